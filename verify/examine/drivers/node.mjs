import { writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const write = writeSync
const json = JSON.stringify
const say = (answer) => {
  let text
  try { text = json(answer) } catch (e) { text = json({ error: e.name, message: 'the value is none of JSON\'s: ' + e.message }) }
  for (let b = Buffer.from(text + '\n'); b.length > 0;) b = b.subarray(write(1, b))
}
process.stdout.write = process.stderr.write.bind(process.stderr)

const file = process.argv[1]
let module
try { module = await import(pathToFileURL(resolve(file)).href) } catch (e) {
  say({ failed: `${file} can't be loaded: ${e}` })
  process.exit(1)
}
say({})
for await (const line of createInterface({ input: process.stdin })) {
  const q = JSON.parse(line)
  try {
    const find = (from) => q.call.split('.').reduce((at, part) => at?.[part], from)
    const f = find(module) ?? find(module.default) ?? (q.call === 'default' ? module.default : undefined)
    if (typeof f !== 'function') throw new TypeError(`${q.call} is no function of ${file}`)
    const value = await f(...q.args)
    say({ value: value === undefined ? null : value })
  } catch (e) { say({ error: e?.name ?? 'Error', message: String(e?.message ?? e) }) }
}
