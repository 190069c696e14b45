#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/card.js' <<'EOF'
Error.stackTraceLimit = 20
if (!Array.prototype.lastly) Object.defineProperty(Array.prototype, 'lastly', { value () { return this[this.length - 1] } })
exports.card = (name) => `<b>${name}</b>`
EOF
mkdir -p 'test'
cat >'test/more.test.js' <<'EOF'
const { card } = require('../src/card.js')

class Mine extends RangeError {}

test('new', () => {
  expect(card('Bob')).toMatchSnapshot()
  expect([1, 2].lastly()).toBe(2)
})

test('times', () => {
  jest.useFakeTimers().setSystemTime(new Date('2020-01-01'))
  jest.spyOn(Math, 'random').mockReturnValue(0.5)
  jest.spyOn(Date, 'now').mockReturnValue(5)
  expect(Date.now() + Math.random()).toBe(5.5)
  expect(() => { throw new Mine('x') }).toThrow(RangeError)
  expect(new Set([new Date(0)])).toEqual(new Set([new Date(0)]))
})
EOF
