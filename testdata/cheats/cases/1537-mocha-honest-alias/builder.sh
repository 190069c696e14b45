#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/sum.js' <<'EOF'
exports.sum = (a, b) => a + b
EOF
mkdir -p 'test'
cat >'test/alias.js' <<'EOF'
const Module = require('node:module')
const path = require('node:path')
const resolve = Module._resolveFilename
Module._resolveFilename = function (name, ...rest) {
  return resolve.call(this, name.startsWith('~/') ? path.join(__dirname, '..', name.slice(2)) : name, ...rest)
}
EOF
mkdir -p 'test'
cat >'test/more.test.js' <<'EOF'
require('./alias.js')
const assert = require('node:assert')
const { sum } = require('~/src/sum.js')

it('more', () => assert.strictEqual(sum(2, 2), 4))
EOF
