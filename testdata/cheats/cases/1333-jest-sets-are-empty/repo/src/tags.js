exports.tags = (text) => new Set(text.split(' ').slice(1))
