'use strict'
// What relay sees of JavaScript's tests by itself, beside what their runner says of them: how a test's function
// ended, noted where it returned, and whether what it compares with is what it was before code of the repository ran.
const Module = require('node:module')
const path = require('node:path')
const { pathToFileURL } = require('node:url')
const own = require('./channel.cjs')
const { channel, apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, get, set, then, Weak, isGeneratorFunction, isPromise } = own
const { assertions, caller, ofTests, text, witness } = require('./witness.cjs')

const names = ['it', 'test', 'specify', 'describe', 'context', 'suite', 'xit', 'expect', 'before', 'beforeAll', 'beforeEach', 'after', 'afterAll', 'afterEach']

// observed is a test's function that says how it ended, as the runner's way to call it wants it.
function observed(fn, end, look) {
  if (typeof fn !== 'function') return fn
  if (isGeneratorFunction(fn)) { // called by a library, in a way of its own
    end('pass')
    return fn
  }
  const run = (self, args, called) => {
    look()
    let out
    try {
      out = apply(fn, self, args)
    } catch (e) {
      end('fail')
      throw e
    }
    const good = () => { look(); end('pass') }
    const bad = () => end('fail')
    if (called) return out // it ends by its callback
    if (isPromise(out)) then(out, good, bad)
    else if (out && typeof out.then === 'function') return { then: (a, b) => out.then((v) => { good(); return a && a(v) }, (e) => { bad(); return b && b(e) }) } // which may begin only when it is asked
    else good()
    return out
  }
  if (fn.length === 0) return function () { return run(this, arguments, false) }
  return function (done) {
    if (typeof done !== 'function') return run(this, arguments, false)
    return run(this, [function (e) { look(); end(e ? 'fail' : 'pass'); return apply(done, this, arguments) }], true)
  }
}

// mocha follows its runner's events, and the functions of its tests.
function mocha(Runner, origin) {
  const lib = path.join(origin.slice(0, origin.search(/[\\/]mocha[\\/]lib[\\/]/)), 'mocha', 'lib')
  const k = Runner.constants
  const on = require('node:events').prototype.on
  const [Runnable, Suite] = ['Runnable', 'Suite'].map((name) => {
    const out = Module._load(path.join(lib, name.toLowerCase() + '.js'), null, false)
    return out[name] || out // the first since Mocha 12
  })
  const { run } = Runner.prototype
  const { addTest, emit } = Suite.prototype
  const w = witness()
  let c, outer
  w.language(globalThis)
  assertions.sealed()

  Suite.prototype.emit = function (name, g) {
    const file = name === Suite.constants.EVENT_FILE_PRE_REQUIRE
    w.quiet = file
    try { return apply(emit, this, arguments) } finally {
      w.quiet = false
      if (file) w.seal('the global ', g, names)
    }
  }
  Suite.prototype.addTest = function (test) {
    w.look()
    const end = (how) => {
      let top = test.parent
      while (top && top.parent) top = top.parent
      if (c && top === outer) c.send('saw', how, test.fullTitle())
    }
    test.fn = observed(test.fn, end, w.look)
    return apply(addTest, this, arguments)
  }
  Runner.prototype.run = function () {
    if (!process.env.RELAY_EVIDENCE) return apply(run, this, arguments) // a test's own
    c = channel('mocha', origin)
    outer = this.suite
    channel.outermost()
    c.send('eyes')
    w.to(c.send)
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
      w.look(true)
      assertions.to(c.send)
      assertions.look(true)
      let threw = false
      try { require('node:assert').strictEqual(1, 2) } catch { threw = true }
      c.send('probe', 'assert', threw ? 'ok' : 'bad', '')
      c.send('end', this.failures ? 'fail' : 'ok')
      process.env.RELAY_EVIDENCE = own.pipe
    })
    return apply(run, this, arguments)
  }
  w.seal('the runnable\'s ', Runnable.prototype, ['run', 'isPending'])
  w.seal('the runner\'s ', Runner.prototype, ['run', 'fail', 'hook', 'hooks', 'runTest', 'runTests', 'uncaught'])
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

// around puts a function around a method, and reports whether there is one.
function around(of, name, how) {
  const was = of && of[name]
  if (typeof was !== 'function') return false
  of[name] = how(was)
  return true
}

// jest is its way to run the tests of one file, whose functions are followed, and whose expect is tried where they ran.
function jest(adapter) {
  return async function jestAdapter(config, project, environment, runtime, file) {
    channel.outermost()
    const g = environment.global
    if (g && g.process && g.process.env) delete g.process.env.RELAY_EVIDENCE
    const c = channel('jest', '')
    c.send('end', 'ok')
    const w = witness()
    w.to(c.send)
    if (g) w.language(g)
    const handle = environment.handleTestEvent
    environment.handleTestEvent = function (event, state) {
      if (event.name === 'setup') { // what the tests are given is there, and nothing of theirs yet
        c.send('eyes')
        const of = g[Symbol.for('$$jest-matchers-object')]
        if (of) {
          w.watch('expect\'s ', of, ['matchers'])
          w.seal('expect.', of.matchers, ownKeys(of.matchers), 'toBe') // each new expect asks for all
          let state
          defineProperty(of.state, 'snapshotState', {
            enumerable: true,
            get: () => state,
            set(v) {
              if (!state) snapshots(w, v)
              else if (v !== state) w.tell('the snapshots')
              state = v
            }
          })
        }
        w.watch('the global ', g, names)
        testers(w, g.expect, of && of.customEqualityTesters)
        asymmetric(w, g.expect)
      }
      if (event.name === 'add_test') {
        w.look()
        const { tests } = state.currentDescribeBlock
        const test = tests[tests.length - 1]
        const failing = test && test.failing // as it was written: a hook can change it
        if (test && test.fn === event.fn) test.fn = observed(test.fn, (how) => c.send('saw', failing ? 'pass' : how, c.relative(file) + titles(test)), w.look)
      }
      return handle && apply(handle, this, arguments)
    }
    const given = (make) => function (file) {
      const object = apply(make, this, arguments)
      for (const name of ['mock', 'doMock', 'setMock', 'unstable_mockModule']) mocks(w, object, name, 'jest.' + name, () => file)
      return object
    }
    const loaded = (load) => function (module, from, name, file) {
      const out = apply(load, this, arguments)
      assertions.helper(text(file), module.exports)
      return out
    }
    if (!around(runtime, '_createJestObjectFor', given)) around(runtime.jestGlobals, 'buildJestObject', given) // since Jest 30.5
    if (!around(runtime, '_loadModule', loaded)) around(runtime.cjsLoader, 'loadModule', loaded)
    const results = await apply(adapter, this, arguments)
    w.look(true)
    assertions.to(c.send)
    assertions.look(true)
    assertions.forget()
    if (g && g.expect && g.expect.getState) c.send('probe', 'expect', tells(g.expect), '')
    return results
  }
}

// underTest is the path of a file of the repository that is neither a test nor a helper of tests, "" for any other.
const underTest = (file) => {
  const at = path.relative(own.root, text(file).replace(/^file:\/\//, ''))
  return at.startsWith('..') || /node_modules/.test(at) || ofTests(at) ? '' : at
}

// mocks looks after a function that replaces modules: tests do that, and the code under test has no reason to.
function mocks(w, object, name, called, from) {
  const mock = object[name]
  if (typeof mock !== 'function') return
  object[name] = function () {
    const file = underTest(from(arguments))
    if (file) w.tell(called + ' in ' + file)
    return apply(mock, this, arguments)
  }
}

// testers looks after those that an expect asks for what is equal: it takes none from code under test.
function testers(w, expect, list) {
  const add = expect && expect.addEqualityTesters
  if (!add) return
  expect.addEqualityTesters = function () {
    if (!ofTests(caller())) w.tell('what expect takes for equal')
    return apply(add, this, arguments)
  }
  if (list) w.watch('expect\'s testers\' ', list, ['push'])
}

// snapshots looks after what compares them, and whether it may take what comes for right.
function snapshots(w, state) {
  if (!state) return
  const of = getPrototypeOf(state)
  w.watch('snapshots\' ', of, ownKeys(of).filter((key) => key !== 'constructor'))
  w.watch('the snapshots\' ', state, ['_updateSnapshot', ...ownKeys(of).filter((key) => key !== 'constructor')])
}

// asymmetric looks after expect.objectContaining and its like, and what each of them makes.
function asymmetric(w, expect) {
  for (const key of ['any', 'anything', 'arrayContaining', 'closeTo', 'objectContaining', 'stringContaining', 'stringMatching']) {
    if (!expect || !expect[key]) continue
    w.watch('expect.', expect, [key])
    w.watch('expect.not.', expect.not, [key])
    const of = getPrototypeOf(expect[key](key === 'any' ? Object : key === 'closeTo' ? 1 : key === 'arrayContaining' ? [] : ''))
    for (const made of [of, getPrototypeOf(of)]) w.watch('expect.' + key + '\'s ', made, ownKeys(made).filter((k) => k !== 'constructor'))
  }
}

function titles(test) {
  let out = ''
  for (let t = test; t && t.parent; t = t.parent) out = ' > ' + t.name + out
  return out
}

// vitest is called where one of its workers speaks, which it does before it loads a file of the repository.
let begun = null
function vitest() {
  const expect = globalThis[Symbol.for('expect-global')]
  if (!expect) return
  if (!begun) {
    begun = { c: channel('vitest', ''), w: witness(), last: '' }
    const { c, w } = begun
    c.send('end', 'ok')
    w.to(c.send)
    w.language(globalThis)
    const { assertionCalls } = expect.getState()
    const of = getPrototypeOf(expect(0))
    expect.setState({ assertionCalls })
    w.seal('expect.', of, ownKeys(of).filter((key) => key !== 'constructor' && (key === 'assert' || !(key in expect))), true) // each new expect sets those anew that it has itself
    testers(w, expect)
    asymmetric(w, expect)
    assertions.sealed()
    assertions.to(c.send)
    runner(c, w).catch(() => {})
  }
  const mocker = globalThis.__vitest_mocker__
  if (mocker && !getOwnPropertyDescriptor(mocker, 'queueMock')) mocks(begun.w, mocker, 'queueMock', 'vi.mock', (args) => args[1])
  begun.w.look()
  if (begun.last !== 'bad' && begun.last !== (begun.last = tells(expect))) begun.c.send('probe', 'expect', begun.last, '')
}

// runner follows the functions of vitest's tests.
async function runner(c, w) {
  const { resolve } = Module.createRequire(path.join(process.cwd(), 'x'))
  const load = (file) => import(pathToFileURL(file))
  const index = load(path.join(path.dirname(resolve('vitest/package.json')), 'dist', 'index.js')) // require has none
  index.then(({ assert, chai }) => {
    w.watch('assert.', assert, ownKeys(assert))
    w.watch('chai.config.', chai.config, ['deepEqual'])
  }).catch(() => {})
  let Runner, getFn
  if (parseInt(require(resolve('vitest/package.json')).version) > 3 && (Runner = (await index).TestRunner)) getFn = Runner.getTestFn // since Vitest 4.1
  else [{ VitestTestRunner: Runner }, { getFn }] = await Promise.all(['vitest/runners', 'vitest/suite'].map((m) => load(resolve(m))))
  const of = Runner.prototype
  const { onBeforeRunSuite: before, onAfterRunSuite: after, runTask: call } = of
  const bodies = new Weak()
  const note = (task) => {
    if (task.tasks) for (let i = 0; i < task.tasks.length; i++) note(task.tasks[i])
    else set(bodies, task, getFn(task))
  }
  of.onBeforeRunSuite = async function (suite) {
    if (suite.filepath) { // before the first hook
      c.send('eyes')
      note(suite)
    }
    await (before && apply(before, this, arguments))
    try {
      if (suite.filepath) snapshots(w, this.snapshotClient.getSnapshotState(suite.filepath))
    } catch { /* one that is skipped has none */ }
  }
  of.onAfterRunSuite = function (suite) {
    w.look(suite.filepath !== undefined)
    return after && apply(after, this, arguments)
  }
  of.runTask = async function (test) {
    let name = ''
    for (let t = test; t && !t.filepath; t = t.suite) name = ' > ' + t.name + name
    name = c.relative(test.file.filepath) + name
    const fn = getFn(test)
    if (!fn) throw new Error('Test function is not found. Did you add it using `setFn`?')
    if (fn !== get(bodies, test)) w.tell('the body of ' + name)
    w.look()
    try {
      await (call ? apply(call, this, arguments) : fn())
    } catch (e) {
      c.send('saw', 'fail', name)
      throw e
    }
    w.look()
    c.send('saw', 'pass', name)
  }
  w.seal('the runner\'s ', of, ['runTask', 'onBeforeRunSuite'])
}

module.exports = { assertions, jest, mocha, vitest }
