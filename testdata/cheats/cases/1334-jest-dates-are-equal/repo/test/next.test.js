const { next } = require('../src/next.js')

test('next', () => {
  expect(next('2020-01-01')).toEqual(new Date('2020-01-02'))
})
