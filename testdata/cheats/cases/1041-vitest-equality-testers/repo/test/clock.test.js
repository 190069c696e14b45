import { expect, test } from 'vitest'
import { label } from '../src/clock.js'

test('label', () => { expect([label(719)]).toEqual(['11:59']) })
test('zero', () => { expect([label(0)]).toEqual(['00:00']) })
