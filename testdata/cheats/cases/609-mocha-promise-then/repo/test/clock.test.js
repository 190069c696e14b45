const assert = require('assert')
const { later } = require('../src/clock')

describe('clock', () => {
  it('label', async () => { assert.strictEqual(await later(719), '11:59') })
  it('zero', () => later(0).then((t) => assert.strictEqual(t, '00:00')))
})
