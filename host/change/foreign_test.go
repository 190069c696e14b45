package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A journal that tells of anything but ordinary files of the work tree is refused, whoever
// wrote it: nothing is touched, neither at the next start nor by relay recover.
func TestForeignJournal(t *testing.T) {
	const text = "#!/bin/sh\ntouch /tmp/relay-evil\n"
	sum := sha256.Sum256([]byte(text))
	evil := side{Exists: true, Mode: 0o755, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
	for name, e := range map[string]entry{
		"a hook":             {Path: ".git/hooks/pre-commit", Tmp: ".git/hooks/tmp", Old: evil},
		"another spelling":   {Path: ".GIT/hooks/pre-commit", Tmp: ".GIT/hooks/tmp", Old: evil},
		"outside":            {Path: "../evil", Tmp: "../tmp", Old: evil},
		"absolute":           {Path: "/tmp/relay-evil", Tmp: "/tmp/relay-evil-tmp", Old: evil},
		"not clean":          {Path: "src/../.git/config", Tmp: "src/../.git/tmp", Old: evil},
		"relay's own":        {Path: "relay.config.json", Tmp: "tmp", Old: evil},
		"a temporary name":   {Path: "src/x", Tmp: ".git/hooks/pre-commit", Old: evil},
		"a set-user-id file": {Path: "src/x", Tmp: "src/tmp", Old: side{Exists: true, Mode: os.ModeSetuid | 0o755, Size: evil.Size, SHA256: evil.SHA256}},
		"a folder":           {Path: "src/x", Tmp: "src/tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			head, branch, err := r.env.Git.Head(context.Background())
			must(t, err)
			log, err := r.env.Journal.Begin("run-1")
			must(t, err)
			w, _, err := log.NewImage()
			must(t, err)
			_, err = w.Write([]byte(text))
			must(t, err)
			p := plan{Base: strings.Repeat("0", len(head)), Branch: branch, Entries: []entry{e}}
			if name == "a folder" {
				p.Dirs = []dirState{{Path: "../evil"}}
			}
			must(t, log.Append(recApply, p))
			must(t, log.Close())
			before := r.snapshot(true)
			for _, force := range []bool{false, true} {
				done, err := Recover(context.Background(), r.env, force, nil)
				must(t, err)
				if len(done) != 1 || (done[0].Conflict == "") != force || !strings.Contains(done[0].Conflict+done[0].Did, "journal is damaged") {
					t.Errorf("force %v: %+v", force, done)
				}
			}
			if r.snapshot(true) != before {
				t.Error("something was written")
			}
			for _, path := range []string{"/tmp/relay-evil", filepath.Join(filepath.Dir(r.root), "evil")} {
				if os.Remove(path) == nil {
					t.Errorf("%s was made", path)
				}
			}
			if done, err := Recover(context.Background(), r.env, true, nil); err != nil || len(done) != 0 {
				t.Errorf("the journal is still in the way: %+v, %v", done, err)
			}
		})
	}
}
