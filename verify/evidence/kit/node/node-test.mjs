// The reporter for node:test: see preload.cjs.
const channel = globalThis[Symbol.for('relay.evidence')]

export default async function * report(source) {
  const c = channel ? channel('node:test', '') : { send() {}, relative: String }
  if (channel && !(!process.execArgv.includes('--test') || process.execArgv.some((a) => /^--(experimental-)?test-isolation=none/.test(a)))) channel.outermost()
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
    if (suite) { // its tests speak for themselves; it does for what goes wrong outside of them
      const error = data.details.error
      if (status !== 'fail' || error && error.failureType === 'subtestsFailed') continue
      status = 'broken'
    }
    c.send('test', status, (file ? file + ' > ' : '') + full, file)
  }
  if (channel) channel.asserts(c)
  c.send('end', failed ? 'fail' : 'ok')
  yield ''
}
