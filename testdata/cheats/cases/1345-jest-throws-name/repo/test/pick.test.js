const { pick } = require('../src/pick.js')

test('outside', () => {
  expect(() => pick([1], 3)).toThrow(RangeError)
})
