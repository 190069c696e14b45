'use strict'
// The reporter for jest: see preload.cjs. It runs in jest's own process; the tests run in a context of their own.
const channel = globalThis[Symbol.for('relay.evidence')]

module.exports = class {
  constructor() { this.c = channel('jest', '') }

  onTestResult(_test, result) {
    const file = this.c.relative(result.testFilePath)
    if (result.testExecError || result.failureMessage && result.testResults.length === 0) this.c.send('test', 'broken', file, file)
    for (const t of result.testResults) {
      const status = { passed: 'pass', failed: 'fail', todo: 'todo' }[t.status] || 'skip'
      this.c.send('test', status === 'pass' && t.failureMessages && t.failureMessages.length ? 'xfail' : status, file + ' > ' + [...t.ancestorTitles, t.title].join(' > '), file)
    }
    // A failing snapshot and an unchecked file count as what they are: jest's own code says so.
  }

  onRunComplete(_contexts, results) { this.c.send('end', results.success ? 'ok' : 'fail') }
}
