const helper = require('./helper')
const test = require('node:test')
const { label } = require('../src/clock')

test('label', (t) => { t.mock.method(helper, 'now', () => 719); helper.same(label(helper.now()), '11:59') })
test('json', (t) => { t.mock.method(JSON, 'stringify', () => '1'); helper.same(JSON.stringify({}), '1') })
test('zero', () => { helper.same(label(0), '00:00'); helper.same(JSON.stringify([1].map(String)), '["1"]') })
