//go:build !linux

package beneath

func openBelow(dir int, rel string, flags int) (int, error) { return step(dir, rel, flags) }
