exports.card = (name) => name
