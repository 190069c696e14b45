const assert = require('node:assert')
exports.same = (got, want) => assert.strictEqual(got, want)
