export const cents = (euros) => Math.floor(euros * 100)
