exports.pick = (xs, n) => {
  if (n >= xs.length) throw new Error('no such')
  return xs[n]
}
