const assert = require('assert')
const { pick } = require('../src/pick.js')

it('outside', () => {
  assert.throws(() => pick([1], 3), RangeError)
})
