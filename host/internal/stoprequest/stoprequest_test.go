package stoprequest

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
)

func newWorkspace(t *testing.T) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(t.TempDir(), "")
	if err == nil {
		err = ws.Ensure()
	}
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

func TestRequestReachesItsProcess(t *testing.T) {
	ws := newWorkspace(t)
	ended := make(chan struct{})
	w := Watch(context.Background(), ws, func() { close(ended) })
	if w.Asked() {
		t.Error("asked without a request")
	}
	if err := Write(ws, os.Getpid(), false); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the request was not seen")
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(ws.Stop()); err == nil {
		t.Error("the request stays behind")
	}
}

func TestRequestsThatAreNotOurs(t *testing.T) {
	for name, ask := range map[string]func(*workspace.Workspace) error{
		"of another process": func(ws *workspace.Workspace) error { return Write(ws, os.Getpid()+1, false) },
		"broken": func(ws *workspace.Workspace) error {
			return workspace.WriteFile(ws.Stop(), []byte("{"))
		},
		"of a folder": func(ws *workspace.Workspace) error { return os.Mkdir(ws.Stop(), 0o755) },
	} {
		ws := newWorkspace(t)
		if err := ask(ws); err != nil {
			t.Fatal(err)
		}
		w := Watch(context.Background(), ws, func() { t.Errorf("%s: taken for ours", name) })
		if w.Asked() {
			t.Errorf("%s: asked", name)
		}
		time.Sleep(3 * poll)
		if err := w.Stop(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(ws.Stop()); err != nil {
			t.Errorf("%s: taken away", name)
		}
	}
}

func TestOldRequestIsNobodys(t *testing.T) {
	ws := newWorkspace(t)
	if err := Write(ws, os.Getpid(), true); err != nil {
		t.Fatal(err)
	}
	w := Watch(context.Background(), ws, func() {})
	if w.Asked() {
		t.Error("a request older than the process is taken")
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
}

// A request is seen although the clock was set back since the process began.
func TestClockSetBack(t *testing.T) {
	ws := newWorkspace(t)
	w := Watch(context.Background(), ws, func() {})
	if err := workspace.WriteFile(ws.Stop(), fmt.Appendf(nil, `{"pid": %d, "drain": true, "at": "2020-01-01T00:00:00Z"}`, os.Getpid())); err != nil {
		t.Fatal(err)
	}
	if !w.Asked() {
		t.Error("not asked")
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
}

// Of two who ask, the one who asks for more is heard.
func TestDrainTakesNoEndBack(t *testing.T) {
	ws := newWorkspace(t)
	for _, drain := range []bool{true, false, true} {
		if err := Write(ws, 42, drain); err != nil {
			t.Fatal(err)
		}
	}
	if r := read(ws); r == nil || r.Drain {
		t.Errorf("%+v", r)
	}
}

// A drain is asked for and ends nothing by itself.
func TestDrainOnlyAsks(t *testing.T) {
	ws := newWorkspace(t)
	w := Watch(context.Background(), ws, func() { t.Error("ended at once") })
	if err := Write(ws, os.Getpid(), true); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * poll)
	if !w.Asked() {
		t.Error("not asked")
	}
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
}
