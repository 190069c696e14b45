import test from 'node:test'
import assert from 'node:assert'
import { sum } from '../src/sum.mjs'

test('sum', async () => { const { same } = await import('../lib/compare.mjs'); assert.ok(same(sum(1, 2), 3)) })
