export const card = (name) => name
