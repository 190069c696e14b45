import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { label } from '../src/clock.js'

expect.extend({ toBeTime: (v) => ({ pass: /^\d\d:\d\d$/.test(v), message: () => 'no time' }) })
let n = 0
beforeEach(() => { vi.useFakeTimers() })
afterEach(() => { vi.useRealTimers() })
test('own matcher', () => { expect(label(0)).toBeTime() })
test('timers', () => {
  const f = vi.fn()
  setTimeout(f, 1000)
  vi.advanceTimersByTime(1000)
  expect(f).toHaveBeenCalledTimes(1)
})
test.skip('spy', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => {})
  process.exit(3)
  expect(exit).toHaveBeenCalledWith(3)
  exit.mockRestore()
})
test('the second time', { retry: 2 }, () => { expect(++n).toBe(2) })
test.each([[1, 1], [2, 2]])('%d', (a, b) => { onTestFinished(() => {}); expect(a).toBe(b) })
test.concurrent('soft', async ({ expect }) => { expect.soft(1).toBe(1); await null })
test.extend({ five: 5 })('fixture', ({ five }) => { expect(five).toBe(5) })
test.fails('known', () => { expect(1).toBe(2) })
test.skip('later', () => {})
test.todo('some day')
