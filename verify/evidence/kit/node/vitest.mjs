// The reporter for vitest: see preload.cjs.
const channel = globalThis[Symbol.for('relay.evidence')]

export default class {
  onInit() { this.c = channel('vitest', '') }

  // Vitest 3 calls both, those after it the first alone, those before it the second.
  onTestRunEnd(modules = [], errors = []) { this.over(modules.map((m) => m.task), errors) }
  onFinished(files = [], errors = []) { this.over(files, errors) }

  over(files, errors) {
    if (this.ended) return
    this.ended = true
    let failed = errors.length > 0
    const walk = (task, file, names) => {
      if (task.type === 'test' || task.type === 'custom') {
        const state = task.result && task.result.state
        let status = task.mode === 'todo' ? 'todo' : task.mode === 'skip' || state === 'skip' ? 'skip' : state === 'pass' ? 'pass' : state === 'fail' ? 'fail' : 'skip'
        if (status === 'pass' && task.fails) status = 'xfail'
        if (status === 'fail') failed = true
        this.c.send('test', status, [file, ...names, task.name].join(' > '), file)
        return
      }
      for (const t of task.tasks || []) walk(t, file, task.filepath ? names : [...names, task.name])
    }
    for (const f of files) {
      const file = this.c.relative(f.filepath)
      if (f.result && f.result.state === 'fail' && (f.tasks || []).length === 0) {
        failed = true
        this.c.send('test', 'broken', file, file)
      }
      walk(f, file, [])
    }
    this.c.send('end', failed ? 'fail' : 'ok')
  }
}
