// Package inline knows the tests that lie in the files of the code that they are about, as far
// as they can be told apart from it: items of Rust under #[cfg(test)] or #[test], test blocks
// of Zig, unittest blocks of D.
package inline
