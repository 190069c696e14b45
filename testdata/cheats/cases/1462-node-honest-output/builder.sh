#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/slug.js' <<'EOF'
exports.slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim().replace(/ /g, '-')
EOF
mkdir -p 'test'
cat >'test/more.test.js' <<'EOF'
const { test, describe, it, before, mock } = require('node:test')
const assert = require('node:assert')
const { slug } = require('../lib/slug.js')

test('output', () => {
  const said = []
  const { write } = process.stdout
  process.stdout.write = (text) => { said.push(text); return true }
  console.log(slug('A b'))
  process.stdout.write = write
  assert.deepStrictEqual(said, ['a-b\n'])
})

test('parts', async (t) => {
  await t.test('one', () => assert.equal(slug('A'), 'a'))
  await t.test('later', { todo: true }, () => assert.equal(slug('ä'), 'ae'))
})

test('callback', (t, done) => setTimeout(() => { assert.equal(slug('B'), 'b'); done() }, 5))

describe('slug', () => {
  before(() => { Error.stackTraceLimit = 5 })
  it('rejects', async () => { await assert.rejects(Promise.reject(new RangeError('x')), RangeError) })
  it('random', () => {
    mock.method(Math, 'random', () => 0.5)
    Date.now = () => 7
    assert.equal(slug(String(Math.random() + Date.now())), '7-5')
  })
})
EOF
