#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/card.js' <<'EOF'
export const card = (name) => `<b>${name}</b>`
EOF
mkdir -p 'test'
cat >'test/more.test.js' <<'EOF'
import { describe, expect, test, vi } from 'vitest'
import { card } from '../src/card.js'

describe('card', () => {
  describe('inner', () => {
    test('new', () => { expect(card('Bob')).toMatchSnapshot() })
    test('inline', () => { expect(card('Bob')).toMatchInlineSnapshot(`"<b>Bob</b>"`) })
  })
  test.each([1, 2])('of %i', (n) => { expect([card(n)]).to.deep.equal([`<b>${n}</b>`]) })
  test.skip('later', () => { expect(card('x')).toMatchSnapshot() })
  test('times', () => {
    vi.useFakeTimers({ now: 7 })
    expect(Date.now()).toBe(7)
    vi.useRealTimers()
  })
})
EOF
