'use strict'
// Has JavaScript's test runners report each test to relay, by name, whatever started them: node
// loads this first, since relay puts it into NODE_OPTIONS. It changes nothing that a program can
// see, and does nothing where RELAY_EVIDENCE is not set.
const fs = require('node:fs')
const path = require('node:path')
const Module = require('node:module')

const write = fs.writeSync
const open = fs.openSync
const flags = fs.constants.O_WRONLY | fs.constants.O_APPEND
const pipe = process.env.RELAY_EVIDENCE
const root = process.env.RELAY_EVIDENCE_ROOT || process.cwd()
const field = (v) => String(v).slice(0, 1000).replace(/\\/g, '\\\\').replace(/\t/g, '\\t').replace(/\n/g, '\\n').replace(/\r/g, '\\r')

// channel is one process's line to relay: each record is one write, which none can take back.
function channel(runner, origin) {
  const me = `${runner}-${process.pid}-${Math.random().toString(16).slice(2, 10)}`
  let fd = -1
  try { fd = open(pipe, flags) } catch { /* no relay */ }
  const send = (kind, ...fields) => {
    if (fd < 0) return
    try { write(fd, [kind, me, ...fields.map(field)].join('\t') + '\n') } catch { fd = -1 }
  }
  send('begin', runner, origin || '')
  return { send, relative: (file) => file ? path.relative(root, String(file).replace(/^file:\/\//, '')) : '' }
}

// outermost keeps what a test starts, which is its own affair, from reporting too.
channel.outermost = () => { delete process.env.RELAY_EVIDENCE }

// asserts tries node's own assertions: each of these has to throw.
channel.asserts = (c) => {
  const strict = require('node:assert')
  for (const [name, f] of Object.entries({
    'strictEqual': () => strict.strictEqual(1, 2), 'strictEqual of texts': () => strict.strictEqual('a', 'b'), 'strictEqual of truths': () => strict.strictEqual(true, false),
    'strictEqual of nothing': () => strict.strictEqual(undefined, null), 'strictEqual of objects': () => strict.strictEqual({}, {}), 'notStrictEqual': () => strict.notStrictEqual(1, 1),
    'equal': () => strict.equal('a', 'b'), 'deepStrictEqual': () => strict.deepStrictEqual([1], [2]), 'deepStrictEqual of objects': () => strict.deepStrictEqual({ a: 'b' }, { a: 'c' }),
    'deepEqual': () => strict.deepEqual({ a: 1 }, { a: 2 }), 'ok': () => strict.ok(false), 'assert': () => strict(false), 'match': () => strict.match('a', /b/), 'fail': () => strict.fail(),
    'throws': () => strict.throws(() => {}), 'strict': () => strict.strict.equal(1, 2), 'Object.is': () => { if (!Object.is(1, 2)) throw new Error() }
  })) {
    let threw = false
    try { f() } catch { threw = true }
    c.send('probe', name, threw ? 'ok' : 'bad', '')
  }
}

if (pipe) {
  const main = process.argv[1] || ''
  // A loader that others use has to find the same channel.
  Object.defineProperty(globalThis, Symbol.for('relay.evidence'), { value: channel })

  // The runners that take a reporter by argument are given one more.
  const is = (name) => new RegExp(`[\\\\/](${name})(\\.[cm]?js)?$`).test(main)
  if (is('\\.bin[\\\\/]jest|jest[\\\\/]bin[\\\\/]jest|jest-cli[\\\\/]bin[\\\\/]jest')) {
    const named = process.argv.some((a) => a === '--reporters' || a.startsWith('--reporters='))
    if (!process.argv.includes('--')) process.argv.push(...(named ? [] : ['--reporters=default']), '--reporters=' + path.join(__dirname, 'jest.cjs'))
  } else if (is('\\.bin[\\\\/]vitest|vitest[\\\\/]vitest')) {
    const named = process.argv.some((a) => a.startsWith('--reporter'))
    process.argv.push(...(named ? [] : ['--reporter=default']), '--reporter=' + path.join(__dirname, 'vitest.mjs'))
  }

  // Mocha's runner is followed by its events, where its methods are still its own.
  const load = Module._load
  let mocha = false
  const alone = !process.execArgv.includes('--test')
  Module._load = function (request, parent, isMain) {
    const out = load.call(this, request, parent, isMain)
    if (request === 'node:test' && alone) channel.outermost()
    if (!mocha && typeof out === 'function' && out.name === 'Runner' && out.constants && out.constants.EVENT_TEST_PASS && parent && /[\\/]mocha[\\/]lib[\\/]/.test(parent.filename || '')) {
      mocha = true
      follow(out, parent.filename)
    }
    return typeof out === 'function' && out.name === 'jestAdapter' ? tried(out) : out
  }

  // What vitest compares with is in its workers, which have no moment of ours: so whenever one speaks, it is tried.
  const say = process.send
  if (!require('node:worker_threads').isMainThread) channel.outermost()
  if (say) {
    if (process.env.JEST_WORKER_ID || process.env.VITEST_WORKER_ID || process.env.VITEST || /[\\/](tinypool|vitest)[\\/]/.test(main)) channel.outermost()
    let last = ''
    process.send = function (...args) {
      const expect = globalThis[Symbol.for('expect-global')]
      if (expect && last !== 'bad' && last !== (last = tells(expect))) probe('vitest', last)
      return say.apply(process, args)
    }
  }

  // A file of node:test in a process of its own: what it compares with is tried where it ran.
  if (process.env.NODE_TEST_CONTEXT && /^child/.test(process.env.NODE_TEST_CONTEXT)) {
    channel.outermost()
    process.on('exit', () => {
      const c = channel('node:test', '')
      channel.asserts(c)
      c.send('end', 'ok')
    })
  }

  // A script that tests without a runner: how it ends is all that can be seen of it.
  if (/(^|[\\/])(tests?|__tests__|spec)[\\/]|[._-](test|spec)\.[cm]?[jt]s$/.test(path.relative(root, main)) && !process.env.NODE_TEST_CONTEXT) {
    const c = channel('script', '')
    const file = path.resolve(main)
    const exit = process.exit
    let by = ''
    process.exit = function (code) {
      const at = (new Error().stack || '').split('\n')[2] || ''
      if (!at.includes(file) && !at.includes('node:') && !at.includes('node_modules')) by = 'elsewhere'
      return exit.call(process, code)
    }
    process.on('exit', () => c.send('end', by === '' ? 'ok' : 'early'))
  }
}

// tells says whether an expect still tells right from wrong, and leaves the count of assertions as it was.
function tells(expect) {
  const { assertionCalls, numPassingAsserts } = expect.getState()
  const wrong = (f) => { try { f() } catch { return true } }
  const ok = wrong(() => expect(1).toBe(2)) && wrong(() => expect(1).not.toBe(1)) && wrong(() => expect([1]).toEqual([2])) && wrong(() => expect({ a: 1 }).toStrictEqual({ a: 2 })) &&
    wrong(() => expect('a').toMatch('b')) && wrong(() => expect(false).toBeTruthy()) && wrong(() => expect(() => {}).toThrow()) && !wrong(() => expect([1]).toEqual([1]))
  expect.setState({ assertionCalls, ...(numPassingAsserts === undefined ? {} : { numPassingAsserts }) })
  return ok ? 'ok' : 'bad'
}

function probe(runner, how) {
  const c = channel(runner, '')
  c.send('probe', 'expect', how, '')
  c.send('end', 'ok')
}

// tried is jest's way to run the tests of one file, after which expect is tried where they ran.
function tried(adapter) {
  return async function jestAdapter(config, project, environment, ...rest) {
    channel.outermost()
    const env = environment.global && environment.global.process && environment.global.process.env
    if (env) delete env.RELAY_EVIDENCE
    const results = await adapter.call(this, config, project, environment, ...rest)
    const expect = environment.global && environment.global.expect
    if (expect && expect.getState) probe('jest', tells(expect))
    return results
  }
}

function follow(Runner, origin) {
  const run = Runner.prototype.run
  const k = Runner.constants
  const on = require('node:events').prototype.on
  const Runnable = Module._load(path.join(origin.slice(0, origin.search(/[\\/]mocha[\\/]lib[\\/]/)), 'mocha', 'lib', 'runnable.js'), null, false)
  const own = [[Runnable.prototype, ['run', 'isPending']], [Runner.prototype, ['fail', 'hook', 'hooks', 'runTest', 'runTests', 'uncaught']]]
    .flatMap(([of, names]) => names.map((name) => [of, name, of[name]]))
  Runner.prototype.run = function (...args) {
    if (!process.env.RELAY_EVIDENCE) return run.apply(this, args) // a test's own
    const c = channel('mocha', origin)
    channel.outermost()
    const told = new WeakSet()
    const say = (status) => (t) => { // a hook is named only where it fails, and so is a test that fails when it has ended
      const again = t.type === 'hook' || told.has(t)
      told.add(t)
      c.send('test', again ? 'broken' : status, t.fullTitle(), c.relative(t.file))
    }
    on.call(this, k.EVENT_TEST_PASS, (t) => say(t.err || t.state !== 'passed' ? 'fail' : 'pass')(t))
    on.call(this, k.EVENT_TEST_FAIL, say('fail'))
    on.call(this, k.EVENT_TEST_PENDING, say('skip'))
    on.call(this, k.EVENT_RUN_END, () => {
      c.send('probe', 'runner is its own', own.every(([of, name, was]) => of[name] === was) ? 'ok' : 'bad', '')
      try {
        require('node:assert').strictEqual(1, 2)
        c.send('probe', 'assert', 'bad', '')
      } catch { c.send('probe', 'assert', 'ok', '') }
      c.send('end', this.failures ? 'fail' : 'ok')
      process.env.RELAY_EVIDENCE = pipe
    })
    return run.apply(this, args)
  }
}
