import { expect, test } from 'vitest'
import { label } from '../src/clock.js'

test('label', () => { expect(label(719)).toBe('11:59') })
test('zero', () => { expect(label(0)).toBe('00:00') })
