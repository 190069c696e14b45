package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	ts.Check(writeStranger(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[1]))))
}

// writeStranger makes the file of a plugin that is and does what identity says.
func writeStranger(path string, identity []byte) error {
	program, err := stranger()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	whole := append(append([]byte{}, program...), identity...)
	if err := os.WriteFile(path, binary.BigEndian.AppendUint64(whole, uint64(len(identity))), 0o755); err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}

// cmdMend types what a refusal says to type: the first command in backticks of its fix,
// "last" the last one, which must work, or with "fails" must be refused in turn.
//
//	mend FILE [last|fails]
//
// FILE is BLOCKED.json, or the refusal as it was printed.
func cmdMend(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: mend FILE [last|fails]")
	}
	how := append(args, "")[1]
	said := ts.ReadFile(args[0])
	var blocked struct{ Next string }
	if json.Unmarshal([]byte(said), &blocked) == nil {
		said = blocked.Next
	}
	commands := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(said, -1)
	if len(commands) == 0 {
		ts.Fatalf("the refusal in %s says nothing to type", args[0])
	}
	command := commands[0][1]
	if how == "last" {
		command = commands[len(commands)-1][1]
	}
	if err := ts.Exec("sh", "-c", command); (err != nil) != (how == "fails") {
		ts.Fatalf("%s: %v", command, err)
	}
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
