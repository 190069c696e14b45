package coordinatortest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"

	"github.com/paxiom/relay/host/internal/coordinator"
)

// Serve has the test's process share its documents by a socket of this name.
func Serve(t *testing.T, name string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), name+".sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	docs, versions := map[string][]byte{}, map[string]int{}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		name, tag := r.URL.Path, ""
		if versions[name] > 0 {
			tag = fmt.Sprint(versions[name])
		}
		w.Header().Set("ETag", tag)
		switch {
		case r.Method == http.MethodPut && r.Header.Get("If-Match") != tag:
			w.WriteHeader(http.StatusPreconditionFailed)
		case r.Method == http.MethodPut:
			docs[name], _ = io.ReadAll(io.LimitReader(r.Body, 1<<20))
			versions[name]++
		case tag == "":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(docs[name])
		}
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	t.Setenv(coordinator.Env, socket)
}
