export const split = (text) => text.split(' ').slice(1)
