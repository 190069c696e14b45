// The reporter for node:test: see preload.cjs.
import assert from 'node:assert'
import { createRequire } from 'node:module'

const channel = globalThis[Symbol.for('relay.evidence')]

export default async function * report(source) {
  const c = channel ? channel('node:test', '') : { send() {}, relative: String }
  const names = []
  let failed = false
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      names.length = data.nesting
      names[data.nesting] = data.name
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const file = c.relative(data.file)
    const full = [...names.slice(0, data.nesting), data.name].join(' > ')
    const suite = data.details && data.details.type === 'suite'
    let status = type === 'test:pass' ? 'pass' : 'fail'
    if (data.skip !== undefined && data.skip !== false) status = 'skip'
    else if (data.todo !== undefined && data.todo !== false) status = 'todo'
    else if (status === 'fail') failed = true
    const whole = data.nesting === 0 && (c.relative(data.name) === file || String(data.name).endsWith(file) && file !== '')
    if (whole && status === 'fail') status = 'broken'
    if (whole && status === 'pass') continue
    if (!suite || status !== 'pass') c.send('test', status, (file ? file + ' > ' : '') + full, file)
  }
  const strict = createRequire(import.meta.url)('node:assert')
  for (const [name, f] of Object.entries({
    'strictEqual': () => strict.strictEqual(1, 2), 'equal': () => strict.equal('a', 'b'), 'deepStrictEqual': () => strict.deepStrictEqual([1], [2]),
    'deepEqual': () => strict.deepEqual({ a: 1 }, { a: 2 }), 'ok': () => strict.ok(false), 'assert': () => strict(false),
    'throws': () => strict.throws(() => {}), 'strict': () => strict.strict.equal(1, 2), 'Object.is': () => { if (!Object.is(1, 2)) throw new Error() }
  })) {
    let threw = false
    try { f() } catch { threw = true }
    c.send('probe', name, threw ? 'ok' : 'bad', '')
  }
  c.send('end', failed ? 'fail' : 'ok')
  void assert
  yield ''
}
