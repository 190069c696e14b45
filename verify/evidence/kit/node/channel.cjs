'use strict'
// The line to relay, and what of JavaScript relay's own code goes on using after code of the repository ran, which
// may replace any of it: so it is taken here, first of all.
const fs = require('node:fs')
const path = require('node:path')
const { isGeneratorFunction, isPromise } = require('node:util/types')

const of = Function.prototype.bind.bind(Function.prototype.call) // of(method)(this, ...arguments)
const { apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect
const at = of(String.prototype.charCodeAt)
const slice = of(String.prototype.slice)
const text = String
const { WeakMap: Weak } = globalThis
const [get, set, then, relative] = [of(WeakMap.prototype.get), of(WeakMap.prototype.set), of(Promise.prototype.then), path.relative]
const { readFileSync, writeSync, openSync } = fs
const flags = fs.constants.O_WRONLY | fs.constants.O_APPEND
const pipe = process.env.RELAY_EVIDENCE
const root = process.env.RELAY_EVIDENCE_ROOT || process.cwd()
const { random } = Math

const errors = ['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError']
const kinds = ['Array', 'ArrayBuffer', 'BigInt', 'Boolean', 'Function', 'JSON', 'Map', 'Number', 'Object', 'Promise', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'Uint8Array', 'WeakMap', 'WeakSet', ...errors]
const typed = ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array']

function field(v) {
  const s = slice(text(v), 0, 1000)
  let out = ''
  for (let i = 0; i < s.length; i++) {
    const c = at(s, i)
    out += c === 92 ? '\\\\' : c === 9 ? '\\t' : c === 10 ? '\\n' : c === 13 ? '\\r' : s[i]
  }
  return out
}

// channel is one process's line to relay: each record is one write, which none can take back.
function channel(runner, origin) {
  const me = `${runner}-${process.pid}-${text(random())}`
  let fd = -1
  try { fd = openSync(pipe, flags) } catch { /* no relay */ }
  const send = function (kind) {
    if (fd < 0) return
    let line = kind + '\t' + me
    for (let i = 1; i < arguments.length; i++) line += '\t' + field(arguments[i])
    try { writeSync(fd, line + '\n') } catch { fd = -1 }
  }
  send('begin', runner, origin || '', relative(root, process.cwd()))
  return { send, relative: (file) => file ? relative(root, slice(file, 0, 7) === 'file://' ? slice(file, 7) : text(file)) : '' }
}

// outermost keeps what a test starts, which is its own affair, from reporting too.
channel.outermost = () => { delete process.env.RELAY_EVIDENCE }

module.exports = { channel, errors, kinds, typed, readFileSync, pipe, root, apply, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys, get, set, then, Weak, isGeneratorFunction, isPromise }
