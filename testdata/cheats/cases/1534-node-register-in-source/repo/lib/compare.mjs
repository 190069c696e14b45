export const same = (a, b) => a === b
