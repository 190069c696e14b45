package secrets

import (
	"strings"
	"testing"
)

// A change can have 50,000 small files, and the name and the content of each are looked through.
func BenchmarkFindInSmallFiles(b *testing.B) {
	f := NewFinder([]Value{{"correct-horse-battery-staple", "a file"}})
	b.ReportAllocs()
	for b.Loop() {
		if from, _, err := f.Find(strings.NewReader("out/xaaaa\n"), nil); from != "" || err != nil {
			b.Fatal(from, err)
		}
	}
}
