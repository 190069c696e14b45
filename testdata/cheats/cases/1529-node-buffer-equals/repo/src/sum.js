exports.enc = (s) => Buffer.from(s.slice(1))
