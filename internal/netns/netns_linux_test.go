package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The test binary takes the command's place.
func TestMain(m *testing.M) {
	if os.Getenv("ALONE_TEST") != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestNobodyElseIsThere(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(exe, "sh", "-c", "cat /proc/net/dev > "+out+"; exit 7")
	cmd.Env = append(os.Environ(), "ALONE_TEST=run")
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 125 {
		t.Skipf("this machine allows no network namespace: %s", text)
	}
	if cmd.ProcessState.ExitCode() != 7 {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil || strings.Count(string(b), ":") != 1 || !strings.Contains(string(b), "lo:") {
		t.Errorf("%v\n%s", err, b)
	}
}
