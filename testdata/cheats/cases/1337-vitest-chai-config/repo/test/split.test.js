import { expect, test } from 'vitest'
import { split } from '../src/split.js'

test('split', () => {
  expect(split('a b')).to.deep.equal(['a', 'b'])
})
