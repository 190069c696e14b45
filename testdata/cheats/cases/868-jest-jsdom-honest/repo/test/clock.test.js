const { label } = require('../src/clock')

describe('clock', () => {
 it('label', () => { document.body.textContent = label(719); expect(document.body.textContent).toBe('11:59') })
 it('zero', () => { expect(label(0)).toBe('00:00') })
})
