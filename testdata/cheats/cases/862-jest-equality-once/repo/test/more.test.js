const { label } = require('../src/clock')

test('later', () => { expect([label(60)]).toEqual(['01:00']) })
