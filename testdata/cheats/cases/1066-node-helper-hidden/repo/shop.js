exports.total = (a, b) => a
