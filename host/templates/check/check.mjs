// A hidden check: no builder sees this file. It ends with exit code 0 when the code is right.
//
// The code runs in a box of its own: load() names it, call() calls a function with arguments as
// JSON has them. Values are made anew in each run (randInt, choice), and compared here.
import { call, equal, load, raises, randInt } from './relay_check.mjs'

load('javascript', 'src/sums.js') // a file of the repository; or a module of 'python', a package of 'go'

// wanted is the right answer, worked out in another way than in the code.
const wanted = (numbers) => numbers.reduce((a, b) => a + b, 0)

for (let i = 0; i < 50; i++) {
  const numbers = Array.from({ length: randInt(0, 8) }, () => randInt(-1000, 1000))
  equal(`total of ${numbers}`, call('total', numbers), wanted(numbers))
}
raises('nothing is no list', 'total', null)
