import { assert, test } from 'vitest';
import { total } from '../src/m.js';
test('total', () => {
  assert.equal(total([1, 2]), 3);
});
