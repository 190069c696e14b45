const { total } = require('../src/m.js');
test('total', () => {
  expect(total([1, 2])).toEqual(expect.objectContaining({ sum: 3 }));
});
