package clock

import (
	"os"
	"os/exec"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("AS_PROGRAM") != "" {
		os.Stdout.WriteString(Label(61))
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func TestProgram(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "AS_PROGRAM=1")
	out, err := c.Output()
	if err == nil || string(out) != "01:01" {
		t.Fatalf("%q, %v", out, err)
	}
}

func TestHelper(t *testing.T) {
	if os.Getenv("HELPER") != "" {
		t.Fatal("as it is meant to")
	}
	c := exec.Command(os.Args[0], "-test.run=^TestHelper$", "-test.v")
	c.Env = append(os.Environ(), "HELPER=1")
	if c.Run() == nil {
		t.Fatal("the helper passed")
	}
}

func TestStdout(t *testing.T) {
	out := os.Stdout
	defer func() { os.Stdout = out }()
	r, w, _ := os.Pipe()
	os.Stdout = w
	os.Stdout.WriteString("x")
	w.Close()
	b := make([]byte, 9)
	if n, _ := r.Read(b); n != 1 {
		t.Fatal(n)
	}
}

func TestSub(t *testing.T) {
	t.Run("a", func(t *testing.T) { t.Parallel() })
	t.Run("a b", func(t *testing.T) { t.Skip("later") })
}

func ExampleLabel() {
	os.Stdout.WriteString(Label(0))
	// Output: 00:00
}

func FuzzLabel(f *testing.F) {
	f.Add(3)
	f.Fuzz(func(t *testing.T, n int) { _ = Label(n) })
}

func BenchmarkLabel(b *testing.B) {
	for range b.N {
		Label(3)
	}
}
