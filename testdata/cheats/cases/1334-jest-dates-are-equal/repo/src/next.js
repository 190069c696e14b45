exports.next = (day) => new Date(day)
