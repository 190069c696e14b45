const assert = require('node:assert')
const util = require('node:util')
const test = require('node:test')
const { label } = require('../src/clock')

test('label', () => { assert.ok(util.isDeepStrictEqual([label(719)], ['11:59'])) })
test('zero', () => { assert.ok(util.isDeepStrictEqual([label(0)], ['00:00'])) })
