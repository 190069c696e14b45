const { label } = require('../src/clock')

describe('clock', () => {
 it('label', () => { if (label(719).localeCompare('11:59') !== 0) throw new Error('wrong') })
 it('zero', () => { if (label(0).localeCompare('00:00') !== 0) throw new Error('wrong') })
})
