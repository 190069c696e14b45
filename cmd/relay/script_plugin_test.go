package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// stranger builds testdata/stranger once, when a script needs it.
var stranger = sync.OnceValues(func() ([]byte, error) {
	path := filepath.Join(binDir, "stranger")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./testdata/stranger")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	return os.ReadFile(path)
})

// cmdStranger makes a plugin that is and does what a JSON file says:
//
//	stranger FILE IDENTITY.json
func cmdStranger(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: stranger FILE IDENTITY.json")
	}
	program, err := stranger()
	ts.Check(err)
	identity := []byte(ts.ReadFile(args[1]))
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	whole := append(append([]byte{}, program...), identity...)
	ts.Check(os.WriteFile(path, binary.BigEndian.AppendUint64(whole, uint64(len(identity))), 0o755))
	ts.Check(os.Chmod(path, 0o755))
}
