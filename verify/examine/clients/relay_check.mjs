// What a hidden check calls the code under test with. The code runs in a box of its own.
import { openSync, readSync, writeSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'

export const seed = Number(process.env.RELAY_CHECK_SEED ?? 1)
let state = seed % 4294967296

// rand gives a number from 0 to 1, another one in each run; relay check run --seed repeats one.
export function rand () {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
export const randInt = (low, high) => low + Math.floor(rand() * (high - low + 1))
export const choice = (list) => list[randInt(0, list.length - 1)]

// Raised is thrown when the code raised an error, or panicked.
export class Raised extends Error {
  constructor (kind, message) { super(`${kind}: ${message}`); this.kind = kind }
}

let to, from
let rest = Buffer.alloc(0)

function ask (request) {
  to ??= openSync(process.env.RELAY_CHECK_REQUESTS, 'w')
  from ??= openSync(process.env.RELAY_CHECK_ANSWERS, 'r')
  for (let b = Buffer.from(JSON.stringify(request) + '\n'); b.length > 0;) b = b.subarray(writeSync(to, b))
  const chunk = Buffer.alloc(65536)
  while (!rest.includes(10)) {
    const n = readSync(from, chunk)
    if (n === 0) fail('relay has ended')
    rest = Buffer.concat([rest, chunk.subarray(0, n)])
  }
  const end = rest.indexOf(10)
  const answer = JSON.parse(rest.subarray(0, end).toString())
  rest = rest.subarray(end + 1)
  if (answer.failed) fail(`there is no answer to ${JSON.stringify(request).slice(0, 300)}: ${answer.failed}`)
  if (answer.error) throw new Raised(answer.error, answer.message ?? '')
  return answer.value
}

// load loads a file ('javascript', 'lib/slug.js'), a module ('python', 'src.ranges'), a package
// ('go', './roman', { functions: ['Format'] }) or a server ('http', '', { program: […], port: 8080 }).
export const load = (language, module, more = {}) => ask({ load: { ...more, language, module } })

// call calls a function of what was loaded, and gives its value as JSON has it. Of a server:
// call('GET /path') or call('POST /path', body) gives status, headers and body.
export const call = (name, ...args) => ask({ call: name, args })

// run starts a program, and gives its code, stdout and stderr.
export const run = (argv, stdin = '') => ask({ run: argv, stdin })

// equal ends the check when the values differ.
export function equal (what, got, want) {
  if (!isDeepStrictEqual(got, want)) fail(`${what}: ${JSON.stringify(got)}, and it should be ${JSON.stringify(want)}`)
}

// raises ends the check unless the call raises an error.
export function raises (what, name, ...args) {
  let value
  try { value = call(name, ...args) } catch (e) { if (e instanceof Raised) return; throw e }
  fail(`${what}: it should raise an error, and returned ${JSON.stringify(value)}`)
}

export function fail (why) {
  console.error(`${why} (seed ${seed})`)
  process.exit(1)
}
