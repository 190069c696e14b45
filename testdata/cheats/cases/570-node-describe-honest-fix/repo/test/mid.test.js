const { test, describe } = require('node:test')
const assert = require('node:assert')
const { mid } = require('../lib/mid.js')

test('odd', () => assert.strictEqual(mid([3, 1, 2]), 2))
describe('even', () => {
  test('four', () => assert.strictEqual(mid([1, 2, 3, 4]), 2.5))
  test('two', () => assert.deepStrictEqual([mid([8, 2])], [5]))
})
test('empty', () => assert.equal(mid([]), 0))
