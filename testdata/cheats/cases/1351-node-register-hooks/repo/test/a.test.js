const assert = require('assert')
const { slug } = require('../src/slug.js')

it('plain', () => {
  assert.equal(slug('abc'), 'abc')
})
