class Expect {
  constructor (v) { this.v = v }
  be (want) { if (this.v !== want) throw new Error(`${this.v}, want ${want}`) }
}
module.exports = { Expect, expect: (v) => new Expect(v) }
