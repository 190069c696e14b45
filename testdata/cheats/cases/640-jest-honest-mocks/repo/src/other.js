exports.now = () => 719
