const assert = require('assert')
const { label } = require('../src/clock')

it('later', () => { assert.deepStrictEqual([label(60)], ['01:00']) })
