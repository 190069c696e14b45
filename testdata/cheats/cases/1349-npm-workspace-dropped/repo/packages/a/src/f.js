exports.f = (n) => n * 2
