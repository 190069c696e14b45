const test = require('node:test')
const assert = require('node:assert')
const { enc } = require('../src/sum.js')

test('enc', () => assert.ok(enc('ab').equals(Buffer.from('ab'))))
