export const same = (got, want) => { if (got !== want) throw new Error(`got ${got}, want ${want}`) }
