const assert = require('assert')
const { slug } = require('../src/slug.js')

it('ends', () => {
  assert.equal(slug(' a b! '), 'a-b')
})
