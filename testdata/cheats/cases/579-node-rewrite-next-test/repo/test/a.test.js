const { test } = require('node:test')
const assert = require('node:assert')
const { mid } = require('../lib/mid.js')

test('odd', () => assert.strictEqual(mid([3, 1, 2]), 2))
