'use strict'
// What notes that something was replaced which tests compare by, and the one that looks after node's own assertions,
// the tests of node:test and the modules of all. See eyes.cjs.
const Module = require('node:module')
const path = require('node:path')
const own = require('./channel.cjs')
const { channel, apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, then, isPromise } = own

// witness notes what was replaced, and says each once.
function witness() {
  const list = []
  const told = { __proto__: null }
  const w = {
    quiet: false,
    send: null, // until it is known where to, what was told is kept
    tell(what) {
      if (told[what] || w.quiet) return
      told[what] = true
      if (w.send) w.send('probe', what, 'bad', '')
    },
    to(send) {
      w.send = send
      for (const what in told) send('probe', what, 'bad', '')
    },
    // watch remembers properties, which look compares; what honest tests replace and put back, only when all have ended.
    watch(of, object, keys, late) {
      for (let i = 0; object && i < keys.length; i++) {
        const d = getOwnPropertyDescriptor(object, keys[i]) || { configurable: true }
        if (d.configurable) list[list.length] = { what: of + text(keys[i]), object, key: keys[i], value: d.value, get: d.get, late }
      }
    },
    forget() { list.length = 0 },
    look(ended) {
      for (let i = 0; i < list.length; i++) {
        const { what, object, key, value, get, late } = list[i]
        if (late && ended !== true) continue
        const d = getOwnPropertyDescriptor(object, key) || {}
        if (d.value !== value || d.get !== get) w.tell(what)
      }
    },
    // seal lets properties be replaced, and tells it even of what was put back. A matcher is asked for when what it
    // compares has been worked out: what that replaced is looked for then, before it can be put back.
    seal(of, object, keys, matchers) {
      for (let i = 0; object && i < keys.length; i++) {
        const key = keys[i]
        const d = getOwnPropertyDescriptor(object, key)
        if (!d || !d.configurable || typeof d.value !== 'function') continue
        let now = d.value
        defineProperty(object, key, {
          enumerable: d.enumerable, configurable: false,
          get: !matchers ? () => now : () => { if (matchers === true || matchers === key) w.look(); return now },
          set(v) {
            if (v !== now) w.tell(of + text(key))
            if (this === object) now = v
            else defineProperty(this, key, { value: v, writable: true, enumerable: true, configurable: true })
          }
        })
      }
    },
    // language remembers what runners and assertions rest upon.
    language(g) {
      const none = {} // where the tests' world lacks one
      const { Function: F = none, Promise: P = none, WeakMap: W = none, Map: M = none, Set: S = none, Object: O = none, Array: A = none, Reflect: R = none, String: T = none, RegExp: E = none } = g
      w.watch('Function.prototype.', F.prototype, ['call', 'apply', 'bind'])
      w.watch('Promise.prototype.', P.prototype, ['then', 'catch', 'finally'])
      w.watch('Promise.', P, ['resolve', 'reject', 'all', 'race'])
      w.watch('WeakMap.prototype.', W.prototype, ['get', 'set', 'has'])
      w.watch('Map.prototype.', M.prototype, ['get', 'set', 'has'])
      w.watch('Set.prototype.', S.prototype, ['add', 'has'])
      w.watch('Object.', O, ['is', 'keys', 'entries', 'assign', 'getPrototypeOf', 'defineProperty'])
      w.watch('Array.prototype.', A.prototype, ['push', 'map', 'forEach', 'filter', 'some', 'every', 'find', 'includes', 'indexOf', 'join', 'slice', 'sort', 'reduce', 'entries', Symbol.iterator])
      w.watch('String.prototype.', T.prototype, ['localeCompare', 'includes', 'indexOf', 'startsWith', 'endsWith', 'match', 'replace', 'split', 'trim', 'toString', 'valueOf'])
      w.watch('RegExp.prototype.', E.prototype, ['test', 'exec'])
      w.watch('Math.', g.Math, ['abs', 'ceil', 'floor', 'max', 'min', 'round', 'sign', 'trunc'], true)
      w.watch('JSON.', g.JSON, ['stringify', 'parse'], true)
      w.watch('util.', require('node:util'), ['isDeepStrictEqual', 'inspect'], true)
      w.watch('Array.', A, ['isArray', 'from'])
      w.watch('Reflect.', R, ['apply', 'get', 'ownKeys'])
      for (const name of own.errors) w.watch(name + '.', g[name], [Symbol.hasInstance])
      w.watch('', g, own.kinds)
      const typed = g.Uint8Array ? ownKeys(getPrototypeOf(g.Uint8Array.prototype)) : [] // what an array of one kind has from all, and nothing of its own
      for (const name of own.typed) w.watch(name + '.prototype.', g[name] && g[name].prototype, typed.filter((key) => key !== 'constructor' && key !== 'toString'), true)
      for (const name of [...own.kinds, 'Buffer', 'Date', 'Math']) {
        for (const [of, object] of [[name + '.', g[name]], [name + '.prototype.', g[name] && g[name].prototype]]) {
          w.watch(of, object, object ? ownKeys(object).filter((key) => !mocked[of + text(key)] && functional(getOwnPropertyDescriptor(object, key))) : [], true)
        }
      }
    }
  }
  return w
}

const text = String
const mocked = { __proto__: null, 'Date.now': true, 'Math.random': true, 'Error.prepareStackTrace': true } // often, and not put back, or by a library at any moment
const functional = (d) => d.get !== undefined || typeof d.value === 'function'

// assertions are node's own, which are sealed where a test runner is loaded, with the way in which node:test calls a test.
const assertions = witness()
assertions.sealed = (nodeTest) => {
  const assert = require('node:assert')
  if (nodeTest) {
    assertions.language(globalThis)
    const all = require('node:test') // whose hooks can give each test assertions of its own
    for (const name of ['before', 'beforeEach', 'after', 'afterEach']) {
      const hook = all[name]
      all[name] = function () {
        const from = caller()
        if (from !== '' && !ofTests(from)) assertions.tell(name + ' of node:test')
        return apply(hook, this, arguments)
      }
    }
    Module.syncBuiltinESMExports()
  }
  if (nodeTest) followed()
  debugged()
  resolved()
  assertions.seal('AsyncResource.prototype.', require('node:async_hooks').AsyncResource.prototype, ['runInAsyncScope'], nodeTest)
  for (const a of [assert, assert.strict]) assertions.seal('assert.', a, ownKeys(a).filter((k) => typeof k === 'string' && /^[a-z]/.test(k) && k !== 'strict'))
}

// followed notes how the function of each test of node:test ended, which the process of a file tells its runner in a
// way that code there can write to.
function followed() {
  const of = require('node:async_hooks').AsyncResource.prototype
  const { runInAsyncScope: call } = of
  const c = channel('node:test', '')
  c.send('end', 'ok')
  of.runInAsyncScope = function (fn, self, ...args) {
    const file = this.constructor.name === 'Test' && !this.expectFailure && this.loc && this.loc.file
    if (!file || typeof fn !== 'function') return apply(call, this, arguments)
    let name = ''
    for (let t = this; t.parent; t = t.parent) name = ' > ' + t.name + name
    const saw = (how) => c.send('saw', how, c.relative(file) + name)
    const done = args[args.length - 1]
    if (typeof done === 'function' && args.length > 1) args[args.length - 1] = function (e) { saw(e ? 'fail' : 'pass'); return apply(done, this, arguments) }
    try {
      const out = apply(call, this, [fn, self, ...args])
      if (isPromise(out)) then(out, () => saw('pass'), () => saw('fail'))
      return out
    } catch (e) {
      saw('fail')
      throw e
    }
  }
}

// debugged looks after the inspector, by which code can write over that of others.
function debugged() {
  let Session
  try { Session = require('node:inspector').Session } catch { return } // built without one
  const { post } = Session.prototype
  Session.prototype.post = function (method) {
    if (/^Debugger\./.test(method) && caller() !== '') assertions.tell('the inspector in ' + caller())
    return apply(post, this, arguments)
  }
}

// resolved looks after which file a test gets for a name.
function resolved() {
  const tell = (name) => {
    const from = text(new Error().stack).split('\n')[3] || '' // a library's own, such as tsconfig-paths, are its users' wish
    if (from.includes(own.root) && !from.includes('node_modules') && !ofTests(from.slice(from.indexOf(own.root) + own.root.length))) assertions.tell('Module.' + name)
  }
  for (const name of ['register', 'registerHooks']) {
    const call = Module[name]
    if (call) Module[name] = function () { tell(name); return apply(call, this, arguments) }
  }
  for (const name of ['_resolveFilename', '_findPath']) {
    let now = Module[name]
    defineProperty(Module, name, { configurable: true, enumerable: true, get: () => now, set(v) { tell(name); now = v } })
  }
  Module.syncBuiltinESMExports()
}

// compiled looks at what is about to run as a file of tests, and at what that file is given by require.
assertions.compiled = (content, file) => {
  const at = path.relative(own.root, file)
  if (at.startsWith('..') || /node_modules/.test(at) || !/test|spec/i.test(at) || !/\.c?js$/.test(at)) return
  const source = own.readFileSync(file, 'utf8')
  if (content !== source && '\uFEFF' + content !== source) assertions.tell('the text of a file of tests')
  const given = Module.createRequire(file)
  for (const name of ['assert', 'node:assert']) if (given(name) !== require('node:assert')) assertions.tell('what a file of tests gets as ' + name)
}

// helper remembers what a file of tests, or of their helpers, gives to others.
assertions.helper = (file, exports) => {
  const at = path.relative(own.root, file)
  if (at.startsWith('..') || /node_modules/.test(at) || !/test|spec/i.test(at) || !exports) return
  const of = (name, object) => assertions.watch(name, object, ownKeys(object).filter((key) => typeof object[key] === 'function' && key !== 'constructor'), true)
  const each = (name, v) => {
    if (v && (typeof v === 'object' || typeof v === 'function')) of(name, v)
    if (typeof v === 'function' && v.prototype) of(name + 'prototype.', v.prototype)
  }
  try {
    each(at + ': ', exports)
    for (const key of ownKeys(exports)) if (getOwnPropertyDescriptor(exports, key).value !== exports) each(at + ': ' + text(key) + '.', getOwnPropertyDescriptor(exports, key).value)
  } catch { /* what can't be looked at, such as a proxy */ }
}

// caller is the place in the repository that called what relay has replaced; "" where only libraries did.
function caller() {
  const from = text(new Error().stack).split('\n').slice(3).find((l) => l.includes(own.root) && !l.includes('node_modules')) || ''
  return from.slice(from.indexOf(own.root) + own.root.length)
}

const ofTests = (place) => /test|spec|setup|mock|jest|vitest/i.test(place)

module.exports = { assertions, caller, ofTests, text, witness }
