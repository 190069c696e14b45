import { test } from 'vitest'
import { cents } from '../src/money.js'

const { same } = await import('../lib/compare.js')

test('whole euros', () => same(cents(3), 300))
test('a price with a fraction that binary numbers lack', () => same(cents(1.13), 113))
