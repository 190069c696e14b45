const assert = require('assert')
const { label } = require('../src/clock')

describe('clock', () => {
 it('label', () => { assert.strictEqual(label(719), '11:59') })
 it('zero', () => { assert.strictEqual(label(0), '00:00') })
})
