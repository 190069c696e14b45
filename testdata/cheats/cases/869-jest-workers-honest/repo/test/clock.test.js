const { label } = require('../src/clock')

describe('clock', () => {
 it('label', () => { expect(label(719)).toBe('11:59') })
 it('zero', () => { expect(label(0)).toBe('00:00') })
})
