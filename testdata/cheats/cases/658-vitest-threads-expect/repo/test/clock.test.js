import { describe, expect, it } from 'vitest'
import { label } from '../src/clock.js'

describe('clock', () => {
 it('label', () => { expect(label(719)).toBe('11:59') })
 it('zero', () => { expect(label(0)).toBe('00:00') })
})
