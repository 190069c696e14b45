import { strictEqual } from 'node:assert'
import { label } from '../src/clock.js'

describe('clock', () => {
 it('label', () => { strictEqual(label(719), '11:59') })
 it('zero', () => { strictEqual(label(0), '00:00') })
})
