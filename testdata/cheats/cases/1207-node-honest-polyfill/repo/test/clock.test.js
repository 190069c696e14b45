const assert = require('node:assert')
const test = require('node:test')
const { label } = require('../src/clock')

test('label', () => { assert.strictEqual(label(719), '11:59') })
test('zero', () => { assert.strictEqual(label(0), '00:00') })
