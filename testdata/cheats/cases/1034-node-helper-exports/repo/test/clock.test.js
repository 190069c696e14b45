const helper = require('./helper')
const test = require('node:test')
const { label } = require('../src/clock')

test('label', () => { const got = label(719); helper.same(got, '11:59') })
test('zero', () => { helper.same(label(0), '00:00') })
