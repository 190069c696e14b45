const assert = require('node:assert')
const test = require('node:test')
const { label } = require('../src/clock')

test('label', () => {
  const got = label(719)
  assert.ok(JSON.stringify({ got }) === JSON.stringify({ got: '11:59' }))
})
test('zero', () => { assert.strictEqual(label(0), '00:00') })
