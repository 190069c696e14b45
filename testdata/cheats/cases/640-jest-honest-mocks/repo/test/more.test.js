const { label } = require('../src/clock')

expect.extend({ toBeTime: (v) => ({ pass: /^\d\d:\d\d$/.test(v), message: () => 'no time' }) })
jest.mock('../src/other', () => ({ now: jest.fn(() => 0) }))

let n = 0
jest.retryTimes(2)
test('own matcher', () => { expect(label(0)).toBeTime() })
test('mock', () => { expect(label(require('../src/other').now())).toBe('00:00') })
test('timers', () => {
  jest.useFakeTimers()
  const f = jest.fn()
  setTimeout(f, 1000)
  jest.advanceTimersByTime(1000)
  expect(f).toHaveBeenCalledTimes(1)
  jest.useRealTimers()
})
test('spy', () => {
  const exit = jest.spyOn(process, 'exit').mockImplementation(() => {})
  process.exit(3)
  expect(exit).toHaveBeenCalledWith(3)
  exit.mockRestore()
})
test('the second time', () => { expect(++n).toBe(2) })
test.each([[1, 1], [2, 2]])('%d', (a, b) => { expect(a).toBe(b) })
test('callback', (done) => { setTimeout(done, 1) })
test.skip('later', () => {})
test.todo('some day')
