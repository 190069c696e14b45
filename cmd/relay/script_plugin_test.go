package main

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// cmdVendor serves a vendor on loopback for the time of the script. $VENDOR is where; the
// file gets a line for each request, with the key that came. Its answers tell the key.
//
//	vendor FILE
func cmdVendor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: vendor FILE")
	}
	log, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Goog-Api-Key")
		fmt.Fprintln(log, r.Method, r.RequestURI, key)
		fmt.Fprintln(w, "you have the key", key)
	}))
	ts.Defer(func() { s.Close(); log.Close() })
	ts.Setenv("VENDOR", s.URL)
}
