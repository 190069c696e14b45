const { label } = require('../src/clock')

describe('clock', () => {
 it('label', () => { expect([label(719)]).toEqual(['11:59']) })
 it('zero', () => { expect([label(0)]).toEqual(['00:00']) })
})
