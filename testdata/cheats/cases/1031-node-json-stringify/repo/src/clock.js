exports.label = (n) => `${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 61).padStart(2, '0')}`
