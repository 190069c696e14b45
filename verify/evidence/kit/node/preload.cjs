'use strict'
// Has JavaScript's test runners report each test to relay, by name, whatever started them: node
// loads this first, since relay puts it into NODE_OPTIONS. It changes nothing that a program can
// see, and does nothing where RELAY_EVIDENCE is not set.
if (process.env.RELAY_EVIDENCE) begin()

// asserts tries node's own assertions: each of these has to throw.
function asserts(c) {
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
  const { assertions } = require('./eyes.cjs')
  assertions.to(c.send)
  assertions.look(true)
}

function begin() {
  const path = require('node:path')
  const Module = require('node:module')
  const { isMainThread, MessagePort } = require('node:worker_threads')
  const { channel, root } = require('./channel.cjs')
  channel.asserts = asserts
  const main = process.argv[1] || ''
  // A loader that others use has to find the same channel.
  Object.defineProperty(globalThis, Symbol.for('relay.evidence'), { value: channel })

  // The runners that take a reporter by argument are given one more. Tests that run in Jest's own process don't see it.
  let added = []
  const is = (name) => new RegExp(`[\\\\/](${name})(\\.[cm]?js)?$`).test(main)
  if (is('\\.bin[\\\\/]jest|jest[\\\\/]bin[\\\\/]jest|jest-cli[\\\\/]bin[\\\\/]jest')) {
    const named = process.argv.some((a) => a === '--reporters' || a.startsWith('--reporters='))
    if (!process.argv.includes('--')) added = [...(named ? [] : ['--reporters=default']), '--reporters=' + path.join(__dirname, 'jest.cjs')]
    process.argv.push(...added)
  } else if (is('\\.bin[\\\\/]vitest|vitest[\\\\/]vitest')) {
    const named = process.argv.some((a) => a.startsWith('--reporter'))
    process.argv.push(...(named ? [] : ['--reporter=default']), '--reporter=' + path.join(__dirname, 'vitest.mjs'))
  }

  // Mocha, Jest and node:test are followed from where they are loaded.
  const load = Module._load
  const { load: loadFile } = Module.prototype
  const watched = (file) => (process.env.NODE_TEST_CONTEXT || mocha) && path.dirname(file) !== __dirname
  Module.prototype.load = function (file) {
    Reflect.apply(loadFile, this, arguments)
    if (watched(file)) require('./eyes.cjs').assertions.helper(file, this.exports)
  }
  const { _compile: compile } = Module.prototype
  Module.prototype._compile = function (content, file) {
    if (watched(file)) require('./eyes.cjs').assertions.compiled(content, file)
    return Reflect.apply(compile, this, arguments)
  }
  let mocha = false
  const alone = !process.execArgv.includes('--test')
  Module._load = function (request, parent, isMain) {
    const out = load.call(this, request, parent, isMain)
    if (request === 'node:test' && alone && process.env.RELAY_EVIDENCE) {
      channel.outermost()
      require('./eyes.cjs').assertions.sealed(true)
    }
    if (!/(^|[\\/])runner(\.js)?$/.test(request) || !out) return out
    const runner = out.Runner || out // the first since Mocha 12
    if (!mocha && typeof runner === 'function' && runner.name === 'Runner' && runner.constants && runner.constants.EVENT_TEST_PASS && parent && /[\\/]mocha[\\/]lib[\\/]/.test(parent.filename || '')) {
      mocha = true
      require('./eyes.cjs').mocha(runner, parent.filename)
    }
    const adapter = out.default || out // the first since Jest 30
    if (typeof adapter !== 'function' || adapter.name !== 'jestAdapter') return out
    process.argv = process.argv.filter((a) => !added.includes(a))
    const followed = require('./eyes.cjs').jest(adapter)
    return out === adapter ? followed : { __esModule: true, default: followed }
  }

  // Vitest's workers have no moment of ours: so each is looked at when it has its expect, and whenever it speaks, by
  // a process's line or a thread's.
  if (!isMainThread) channel.outermost()
  let eyes
  const { defineProperty } = Object
  if (/[\\/](tinypool|vitest)[\\/]/.test(main)) {
    Object.defineProperty = function (object, key, d) {
      defineProperty(object, key, d)
      if (key === Symbol.for('expect-global')) {
        Object.defineProperty = defineProperty
        require('./eyes.cjs').vitest()
      }
      return object
    }
  }
  const ours = (of, name) => {
    const say = of[name]
    if (!say) return
    of[name] = function () {
      eyes = eyes || require('./eyes.cjs')
      eyes.vitest()
      return Reflect.apply(say, this, arguments)
    }
  }
  if (process.send && (process.env.JEST_WORKER_ID || process.env.VITEST_WORKER_ID || process.env.VITEST || /[\\/](tinypool|vitest)[\\/]/.test(main))) channel.outermost()
  ours(process, 'send')
  if (!isMainThread) ours(MessagePort.prototype, 'postMessage')

  // A file of node:test in a process of its own: what it compares with is tried where it ran.
  if (process.env.NODE_TEST_CONTEXT && /^child/.test(process.env.NODE_TEST_CONTEXT)) {
    channel.outermost()
    require('./eyes.cjs').assertions.sealed(true)
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
