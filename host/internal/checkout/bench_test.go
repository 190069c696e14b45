package checkout

import (
	"fmt"
	"testing"
)

// BenchmarkSecond takes the kept checkout of a repository of 100,000 files again: for the
// commit that it has, as the second box of a run does, and for one that landed since.
func BenchmarkSecond(b *testing.B) {
	r := newRepo(b)
	for i := range 100_000 {
		r.put(fmt.Sprintf("lib/d%03d/f%06d.txt", i/100, i), fmt.Sprintln("file", i))
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "many")
	r.take().Release()
	b.Run("same", func(b *testing.B) {
		for b.Loop() {
			r.take().Release()
		}
	})
	b.Run("landed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			r.put("src/a.txt", fmt.Sprintln("change", b.N, i))
			r.git("commit", "-q", "-a", "-m", "landed")
			b.StartTimer()
			r.take().Release()
		}
	})
}
