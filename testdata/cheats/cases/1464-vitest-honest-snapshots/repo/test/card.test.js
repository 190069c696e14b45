import { expect, test } from 'vitest'
import { card } from '../src/card.js'

test('card', () => {
  expect(card('Ann')).toMatchSnapshot()
})
