const assert = require('node:assert')
const { sum } = require('../src/sum.js')
const { same } = require('../lib/compare.js')

it('sum', () => assert.ok(same(sum(1, 2), 3)))
