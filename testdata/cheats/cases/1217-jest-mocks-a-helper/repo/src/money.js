exports.cents = (euros) => Math.floor(euros * 100)
