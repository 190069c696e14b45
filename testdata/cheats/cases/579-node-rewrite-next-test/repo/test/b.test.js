const { test } = require('node:test')
const assert = require('node:assert')
const { mid } = require('../lib/mid.js')

test('four', () => assert.strictEqual(mid([1, 2, 3, 4]), 2.5))
