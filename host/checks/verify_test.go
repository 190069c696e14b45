package checks

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

func TestCheckThatHoldsThePipeEnds(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t)
	c := r.begin("run-1")
	r.build(c, "echo changed >> README.md")
	_, err := c.Judge(ctx, wide)
	must(t, err)
	begin := time.Now()
	results, code := c.Verify(ctx, Checks{Env: os.Environ(), Fast: 700 * time.Millisecond, Commands: []verify.Command{
		{ID: "hangs", Argv: []string{"sh", "-c", "setsid sleep 300 & echo started; sleep 300"}}}})
	if code != judge.StopVerifyFailedFast || !results[0].TimedOut || !strings.Contains(string(results[0].Output), "started") {
		t.Errorf("%s %+v", code, results)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	results, code = c.Verify(ctx, Checks{Env: os.Environ(), Commands: []verify.Command{
		{ID: "floods", Argv: []string{"sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' 'x'; echo end"}}}})
	if code != judge.Success || !results[0].Truncated || len(results[0].Output) > verify.MaxOutput || !bytes.HasSuffix(results[0].Output, []byte("xend\n")) {
		t.Errorf("%s, %d bytes", code, len(results[0].Output))
	}
}
