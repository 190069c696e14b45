package box

import (
	"fmt"
	"io"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Init()
	os.Exit(m.Run())
}

func TestSmoke(t *testing.T) {
	root, state := t.TempDir(), t.TempDir()
	os.WriteFile(root+"/a", []byte("x"), 0o644)
	b, err := New(Spec{Root: root, StateDir: state, Layer: state + "/l"})
	if err != nil {
		t.Fatal(err)
	}
	r, w, _ := os.Pipe()
	p, err := b.Start(Proc{Argv: []string{"sh", "-c", os.Getenv("S")}, Env: os.Environ(), Stdout: w, Stderr: w})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(r)
	st, err := p.Wait()
	fmt.Printf("%s\n%+v %v\n", out, st, err)
	if err := b.Discard(); err != nil {
		t.Fatal(err)
	}
}
