#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/merge.js' <<'EOF'
// merge joins spans that touch or overlap.
export function merge(spans) {
  const out = []
  for (const [a, b] of [...spans].sort((x, y) => x[0] - y[0])) {
    const last = out[out.length - 1]
    if (last && a <= last[1]) last[1] = Math.max(last[1], b)
    else out.push([a, b])
  }
  return out
}
EOF
mkdir -p 'test'
cat >'test/more.test.js' <<'EOF'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { merge } from '../src/merge.js'

describe('more', () => {
  let seen
  beforeEach(() => { seen = [] })
  afterEach(() => { vi.restoreAllMocks() })
  test('soft', () => {
    onTestFinished(() => { seen = null })
    expect.soft(merge([])).toEqual([])
    expect(seen).toEqual([])
  })
  test('inline', () => {
    vi.spyOn(Math, 'max')
    merge([[1, 4], [2, 3]])
    expect(Math.max).toHaveBeenCalledWith(4, 3)
  })
})
EOF
