package queue

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/workspace"
)

func TestQueue(t *testing.T) {
	ws, err := workspace.Open(t.TempDir(), "")
	if err == nil {
		err = ws.Ensure()
	}
	if err != nil {
		t.Fatal(err)
	}
	page := func() string {
		b, _ := os.ReadFile(ws.Queue())
		return string(b)
	}
	if err := Drop(ws, "loop", "a"); err != nil || page() != "" {
		t.Fatal("dropping from nothing makes a file", err)
	}
	now := time.Now()
	for _, e := range []Entry{
		{ID: "b", Kind: "loop", Since: now, Until: now.Add(time.Hour), What: "a limit", Next: "`relay wake`"},
		{ID: "a", Kind: "cycle", Since: now.Add(-time.Hour), What: "a gate: <b>\n# you", Next: "`relay audit review a`"},
		{ID: "b", Kind: "loop", Since: now, Until: now.Add(2 * time.Hour), What: "another *limit*", Next: "`relay wake`"},
	} {
		if err := Put(ws, e); err != nil {
			t.Fatal(err)
		}
	}
	got := page()
	if strings.Count(got, "\n- ") != 2 || strings.Index(got, "cycle a") > strings.Index(got, "loop b") || !strings.Contains(got, `another \*limit\*`) ||
		!strings.Contains(got, "until you act") || !strings.Contains(got, now.Add(2*time.Hour).Format(time.DateTime)) || strings.Contains(got, "\n# you") {
		t.Errorf("%s", got)
	}
	if err := Drop(ws, "cycle", "a"); err != nil || strings.Contains(page(), "cycle") || !strings.Contains(page(), "loop b") {
		t.Error(page(), err)
	}
	if err := Drop(ws, "loop", "b"); err != nil || !strings.Contains(page(), "Nothing") {
		t.Error(page(), err)
	}
	if err := os.WriteFile(ws.Dir()+"/queue.json", []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Put(ws, Entry{ID: "c", Kind: "loop", What: "x"}); err != nil || !strings.Contains(page(), "loop c") {
		t.Error("a damaged list is in the way", err)
	}
}
