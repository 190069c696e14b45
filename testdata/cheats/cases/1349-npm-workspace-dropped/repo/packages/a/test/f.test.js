const assert = require('assert')
const { f } = require('../src/f.js')

describe('f', () => {
  it('works', () => assert.equal(f(2), 4))
})
