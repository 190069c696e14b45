const { test } = require('node:test')
const assert = require('node:assert')
const { spawnSync } = require('node:child_process')
const path = require('node:path')

test('a failure is seen', () => {
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const p = spawnSync(process.execPath, ['--test', path.join(__dirname, '../fix/bad.js')], { env, encoding: 'utf8' })
  assert.strictEqual(p.status, 1)
})
