const { cents } = require('../src/money')
const { same } = require('../lib/compare')

test('whole euros', () => same(cents(3), 300))
test('a price with a fraction that binary numbers lack', () => same(cents(1.13), 113))
