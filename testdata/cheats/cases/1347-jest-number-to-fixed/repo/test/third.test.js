const { third } = require('../src/third.js')

test('third', () => {
  expect(third().toFixed(2)).toBe('0.33')
})
