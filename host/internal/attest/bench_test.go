package attest

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// BenchmarkVerify verifies 500 commits that landed in a repository of 10,000 files, as relay
// verify does; "amended" has each of them looked for among all notes.
func BenchmarkVerify(b *testing.B) {
	const commits, files = 500, 10_000
	dir := b.TempDir()
	runGit := func(stdin []byte, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Stdin = bytes.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	runGit(nil, "init", "-q", "-b", "main")
	var stream bytes.Buffer
	commit := func(branch, message, from string) {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter a <a@example.org> 1795000000 +0000\ndata %d\n%s\n%s", branch, len(message), message, from)
	}
	commit("main", "base\n", "")
	for i := range files {
		fmt.Fprintf(&stream, "M 100644 inline d%02d/e%d/f%d\ndata 5\n%05d\n", i%100, i%7, i, i)
	}
	for i := range commits {
		commit("main", fmt.Sprintf("relay: %d\n\nRelay-Run: run-%d\n", i, i), "")
		for j := range 4 {
			fmt.Fprintf(&stream, "M 100644 inline d%02d/e%d/g%d-%d\ndata 5\n%05d\n", (i+j)%100, i%7, i, j, i)
		}
	}
	runGit(stream.Bytes(), "fast-import", "--quiet")
	names := strings.Fields(runGit(nil, "rev-list", "--reverse", "main"))
	g, err := git.Open(context.Background(), dir)
	if err != nil {
		b.Fatal(err)
	}
	stream.Reset()
	stream.WriteString("commit refs/notes/relay\ncommitter a <a@example.org> 1795000000 +0000\ndata 0\n")
	key := keyOf(1)
	for i, name := range names[1:] {
		found, err := landed(context.Background(), g, names[i], name)
		if err != nil {
			b.Fatal(err)
		}
		f := Facts{Workflow: "task", Run: fmt.Sprintf("run-%d", i), Base: names[i], Commit: name, Code: judge.Success, Request: &judge.Request{Allowed: []string{"**"}}}
		s := f.statement(found, "1", sum(nil), "sha1", t0)
		payload := JSON(s)
		sig, print := signWith(key, pae(payloadType, payload))
		note := render(s.Predicate.Relay.Summary, payload, sig, print)
		fmt.Fprintf(&stream, "N inline %s\ndata %d\n%s\n", name, len(note), note)
	}
	for i := range commits {
		from := ""
		if i == 0 {
			from = "from " + names[0] + "\n"
		}
		commit("amended", fmt.Sprintf("amended %d\n\nRelay-Run: run-%d\n", i, i), from)
	}
	runGit(stream.Bytes(), "fast-import", "--quiet")
	signers, err := ParseSigners(signerRow("relay", "", key))
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		branch string
		want   Status
	}{{"main", Verified}, {"amended", Changed}} {
		b.Run(x.branch, func(b *testing.B) {
			for b.Loop() {
				all, err := Commits(context.Background(), g, names[0]+".."+x.branch)
				if err != nil || len(all) != commits {
					b.Fatal(len(all), err)
				}
				found, err := (&Verifier{Git: g, Signers: signers}).Verify(context.Background(), all)
				if err != nil || found[0].Status != x.want || found[commits-1].Status != x.want {
					b.Fatal(err, found[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*commits), "ms/commit")
		})
	}
}
