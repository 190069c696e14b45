const assert = require('node:assert')
const { sum } = require('../src/sum.js')

it('sum', () => assert.strictEqual(sum(1, 2), 3))
