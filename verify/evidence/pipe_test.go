//go:build linux || darwin

package evidence

import (
	"os"
	"strings"
	"testing"
	"time"
)

// What is left in the pipe when a check was ended, or lies there to hold relay up, keeps
// nobody waiting.
func TestPipeEnds(t *testing.T) {
	t.Parallel()
	for _, left := range []string{"", "test\tu-1\tpa", "relay\n", "relay\n" + strings.Repeat("x", 60<<10)} {
		p, err := Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(p.Path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		w.WriteString("begin\tu-1\tunittest\t\n")
		w.WriteString(left)
		w.Close()
		done := make(chan struct{})
		go func() { p.Close(); close(done) }()
		select {
		case <-done:
		case <-time.After(4 * late):
			t.Fatalf("reading does not end after %.20q", left)
		}
	}
	// A process that outlived its box still has it open.
	p, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(p.Path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	begun := time.Now()
	if p.Close(); time.Since(begun) > 2*late {
		t.Error("a writer holds relay up")
	}
}
