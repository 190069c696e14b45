const { tags } = require('../src/tags.js')

test('tags', () => {
  expect(tags('a b')).toEqual(new Set(['a', 'b']))
})
