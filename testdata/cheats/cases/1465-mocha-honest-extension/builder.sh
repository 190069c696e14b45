#!/bin/sh
set -e
mkdir -p 'src'
cat >'src/slug.js' <<'EOF'
require.extensions['.txt'] = (module, file) => { module.exports = require('fs').readFileSync(file, 'utf8') }
exports.slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim().replace(/ /g, require('./join.txt').trim())
EOF
mkdir -p 'src'
cat >'src/join.txt' <<'EOF'
-
EOF
mkdir -p 'test'
cat >'test/c.test.js' <<'EOF'
﻿const assert = require('assert')
const { slug } = require('../src/slug.js')

it('more', () => assert.equal(slug('A B'), 'a-b'))
EOF
