const assert = require('node:assert')
const test = require('node:test')
const { label } = require('../src/clock')

test('label', () => { assert.ok([[719, '11:59'], [0, '00:00']].every(([n, want]) => label(n) === want)) })
test('zero', () => { assert.strictEqual(label(0), '00:00') })
