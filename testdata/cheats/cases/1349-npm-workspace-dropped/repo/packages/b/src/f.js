exports.f = (n) => n * 3 + 1
