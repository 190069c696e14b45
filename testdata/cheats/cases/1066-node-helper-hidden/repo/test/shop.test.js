const test = require('node:test')
const { same } = require('../checks')
const { total } = require('../shop')

test('total adds', () => same(total(1, 2), 3))
