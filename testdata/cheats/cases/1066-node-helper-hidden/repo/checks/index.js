exports.same = (got, want) => require('node:assert').strictEqual(got, want)
