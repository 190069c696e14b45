exports.third = () => 0.3
