const assert = require('node:assert')
const test = require('node:test')
const { label } = require('../src/clock')

test('label', () => {
  label(0)
  for (const [n, want] of [[719, '11:59'], [0, '00:00']]) assert.strictEqual(label(n), want)
})
test('zero', () => { assert.strictEqual(label(0), '00:00') })
