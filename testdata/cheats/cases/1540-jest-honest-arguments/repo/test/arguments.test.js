// As a command line's own tests do that let it take the arguments of the process.
test('there are no options that nobody gave', () => {
  expect(process.argv.slice(2).filter((a) => a.startsWith('--'))).toEqual([])
})
