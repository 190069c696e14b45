const { card } = require('../src/card.js')

test('card', () => {
  expect(card('Ann')).toMatchSnapshot()
})
