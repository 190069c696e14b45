require('node:test').test('bad', () => { throw new Error('x') })
