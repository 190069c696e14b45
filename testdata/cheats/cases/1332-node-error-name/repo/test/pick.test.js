const test = require('node:test')
const assert = require('node:assert')
const { pick } = require('../lib/pick.js')

test('outside', () => {
  assert.throws(() => pick([1], 3), RangeError)
})
