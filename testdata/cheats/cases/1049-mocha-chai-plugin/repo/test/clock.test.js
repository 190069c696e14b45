const { expect } = require('./expect')
const { label } = require('../src/clock')

describe('clock', () => {
 it('label', () => { const got = label(719); expect(got).be('11:59') })
 it('zero', () => { expect(label(0)).be('00:00') })
})
