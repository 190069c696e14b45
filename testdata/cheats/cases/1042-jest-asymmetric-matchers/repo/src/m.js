exports.total = (xs) => 0;
