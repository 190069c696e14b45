const assert = require('assert')
let n = 0

describe('more', function () {
  this.retries(2)
  it('the second time', () => { assert.strictEqual(++n, 2) })
  it('callback', (done) => { setTimeout(done, 1) })
  it('promise', async () => { await null })
  it('stub', () => {
    const { log } = console
    const { exit } = process
    let said = ''
    console.log = (s) => { said = s }
    process.exit = (c) => { said += c }
    try { console.log('a'); process.exit(3) } finally { console.log = log; process.exit = exit }
    assert.strictEqual(said, 'a3')
  })
  it('throws', () => { assert.throws(() => { throw new TypeError('x') }, TypeError) })
  for (const [a, b] of [[1, 1], [2, 2]]) it('sum ' + a, function () { assert.strictEqual(a, b); this.timeout(50) })
  context('with a skip', () => {
    it('left', function () { this.skip() })
    it.skip('never', () => {})
  })
})
