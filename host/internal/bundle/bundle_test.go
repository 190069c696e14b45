package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/host/internal/attest"
	"github.com/paxiom/relay/host/internal/policy"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

var t0 = time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)

// sample is what an archive is made of: a commit that landed, on a base that a person made.
type sample struct {
	facts   Facts
	members []Member
	seal    func(kind string, payload []byte) ([]byte, error)
	signers attest.Signers
	file    string // of them
	base    string
}

func newSample(t *testing.T, format string) *sample {
	t.Helper()
	dir, ctx := t.TempDir(), context.Background()
	run := func(stdin string, args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	run("", "init", "-q", "--object-format="+format, "-b", "main")
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		run("", "add", "-A")
		run("", "commit", "-qm", text)
	}
	base, head := run("", "rev-parse", "HEAD~1"), run("", "rev-parse", "HEAD")
	git, err := git.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	o := attest.Options{Git: git, StateDir: t.TempDir(), Sign: "relay", Now: t0}
	if problem := attest.Attach(ctx, o, attest.Facts{Workflow: "tick", Run: "r", Base: base, Commit: head, Code: judge.Success}); problem != "" {
		t.Fatal(problem)
	}
	carried, err := (&attest.Verifier{Git: git}).Carry(ctx, []string{head})
	if err != nil || len(carried.Commits) != 2 || len(carried.Notes) != 1 {
		t.Fatal(carried, err)
	}
	names := run(strings.Join(carried.Commits, "\n"), "rev-list", "--objects", "--no-object-names", "--no-walk", "--filter=blob:none", "--stdin")
	pack, err := git.Run(ctx, strings.NewReader(names+"\n"), "pack-objects", "-q", "--stdout")
	if err != nil {
		t.Fatal(err)
	}
	rules := policy.File{Name: "policy/size.cel", Text: "ask size: s\n  change.lines > 3\n"}
	set, err := policy.New([]policy.File{rules})
	if err != nil {
		t.Fatal(err)
	}
	s := &sample{base: base, seal: func(kind string, payload []byte) ([]byte, error) { return o.Seal(ctx, kind, payload) }}
	s.facts = Facts{AsOf: t0, Range: "HEAD", ObjectFormat: format, Tip: head, Commits: []string{head}, Runs: []Run{{ID: "r", Workflow: "tick", Refused: []Refusal{}, Calls: []attest.Plugin{}}},
		Policies: []Policy{{set.Digest(), true}}, Unknown: []string{"more"}}
	page, err := Page(s.facts, []Landed{{Commit: head}})
	if err != nil {
		t.Fatal(err)
	}
	s.members = []Member{page, Objects(pack), Note(head, carried.Notes[head]), PolicyMember(set.Digest(), rules)}
	s.file = attest.OwnSigners(o.StateDir)
	text, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	if s.signers, err = attest.ParseSigners(string(text)); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sample) write(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s.facts, s.members, s.seal); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (s *sample) verify(archive io.Reader) (*Checked, error) {
	return Verify(context.Background(), archive, s.signers)
}

// refused holds an archive to being refused with the typed error.
func (s *sample) refused(t *testing.T, name string, archive io.Reader) {
	t.Helper()
	c, err := s.verify(archive)
	if no, ok := errors.AsType[*Refused](err); !ok {
		t.Errorf("%s: it is taken: %t, %v", name, c != nil, err)
	} else if testing.Verbose() {
		t.Logf("%s: %v", name, no)
	}
}

func TestVerify(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		s := newSample(t, format)
		archive := s.write(t)
		if !bytes.Equal(archive, s.write(t)) {
			t.Error("the same facts give other bytes")
		}
		c, err := s.verify(bytes.NewReader(archive))
		if err != nil || c.By != "relay" || len(c.Found) != 1 || c.Found[0].Status != attest.Verified {
			t.Fatalf("%s: %+v, %v", format, c, err)
		}
		nobody := *s
		nobody.signers = nil
		nobody.refused(t, "nobody is believed", bytes.NewReader(archive))
	}
}

// The verifier that shares no code with relay takes the same archive, once git has it.
func TestOtherVerifier(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err == nil {
		_, err = exec.LookPath("ssh-keygen")
	}
	if err != nil {
		t.Skipf("the other verifier can't run: %v", err)
	}
	s, dir := newSample(t, "sha1"), t.TempDir()
	run := func(stdin []byte, name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Stdin = bytes.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v: %s", name, args, err, out)
		}
		return string(out)
	}
	git := []string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}
	run(nil, "git", append(git, "init", "-q")...)
	for _, f := range unpacked(t, s.write(t)) {
		if f.Name == objectsName {
			run(f.text, "git", append(git, "index-pack", "--stdin")...)
		}
	}
	note := s.members[2]
	run(note.text, "git", append(git, "notes", "--ref=relay", "add", "-F", "-", s.facts.Tip)...)
	if out := run(nil, python, "../../../testdata/proof/verify.py", "--signers", s.file, "--repo", dir, s.facts.Tip); !strings.Contains(out, `"status": "verified", "why": "by relay"`) {
		t.Error(out)
	}
}

// file is a member as tar has it.
type file struct {
	*tar.Header
	text []byte
}

func unpacked(t *testing.T, archive []byte) (all []file) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{header(h.Name, h.Size), text})
	}
}

func packed(t *testing.T, all []file) []byte {
	t.Helper()
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	w := tar.NewWriter(z)
	for _, f := range all {
		if f.Typeflag == tar.TypeReg {
			f.Size = int64(len(f.text))
		}
		if err := errors.Join(w.WriteHeader(f.Header), second(w.Write(f.text))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func second[T any](_ T, err error) error { return err }

// Whatever is done to an archive, it is refused and nothing crashes.
func TestTampered(t *testing.T) {
	s := newSample(t, "sha1")
	archive := s.write(t)
	again := func() []file { return unpacked(t, archive) }
	if !bytes.Equal(packed(t, again()), archive) {
		t.Fatal("the test packs otherwise than relay does")
	}
	try := func(name string, all []file) {
		t.Helper()
		s.refused(t, name, bytes.NewReader(packed(t, all)))
	}
	for i, f := range again() {
		for _, at := range []int{0, len(f.text) / 2, len(f.text) - 1} {
			all := again()
			all[i].text[at] ^= 1
			try(fmt.Sprintf("byte %d of %s", at, f.Name), all)
		}
		all := again()
		all[i].text = append(all[i].text, '\n')
		try("longer "+f.Name, all)
		all = again()
		try("without "+f.Name, append(all[:i:i], all[i+1:]...))
		all = again()
		try("twice "+f.Name, append(all[:i+1:i+1], again()[i:]...))
		for _, name := range []string{"x", "../" + f.Name, "/" + f.Name, "./" + f.Name, strings.ToUpper(f.Name), f.Name + "\n"} {
			all := again()
			all[i].Name = name
			try(fmt.Sprintf("%s as %q", f.Name, name), all)
			all = again()
			added := file{header(name, 1), []byte("x")}
			try(fmt.Sprintf("%q before %s", name, f.Name), append(append(all[:i:i], added), all[i:]...))
		}
		for _, kind := range []byte{tar.TypeSymlink, tar.TypeLink, tar.TypeDir, tar.TypeFifo, tar.TypeChar} {
			all := again()
			all[i] = file{&tar.Header{Name: f.Name, Typeflag: kind, Linkname: "/etc/passwd", Mode: 0o777}, nil}
			try(fmt.Sprintf("%s as a %c", f.Name, kind), all)
		}
		for name, change := range map[string]func(h *tar.Header){
			"mode": func(h *tar.Header) { h.Mode = 0o755 }, "time": func(h *tar.Header) { h.ModTime = t0 }, "owner": func(h *tar.Header) { h.Uname = "x" },
			"pax": func(h *tar.Header) { h.PAXRecords = map[string]string{"RELAY.x": "y"} }, "gnu": func(h *tar.Header) { h.Format = tar.FormatGNU },
		} {
			all := again()
			change(all[i].Header)
			try(name+" of "+f.Name, all)
		}
		if i > 0 {
			all := again()
			all[i], all[i-1] = all[i-1], all[i]
			try("another order of "+f.Name, all)
		}
	}
	for n := 0; n < len(archive); n += 7 {
		s.refused(t, fmt.Sprintf("cut off at %d", n), bytes.NewReader(archive[:n]))
	}
	s.refused(t, "a byte behind", bytes.NewReader(append(bytes.Clone(archive), 0)))
	s.refused(t, "an archive behind", bytes.NewReader(append(bytes.Clone(archive), archive...)))
	for at := range 10 { // gzip's header
		for bit := range 8 {
			bad := bytes.Clone(archive)
			bad[at] ^= 1 << bit
			s.refused(t, fmt.Sprintf("bit %d of byte %d", bit, at), bytes.NewReader(bad))
		}
	}
	// Of the compressed bytes a few mean nothing.
	whole := unpacked(t, archive)
	for at := range archive {
		bad := bytes.Clone(archive)
		bad[at] ^= 0x10
		if c, err := s.verify(bytes.NewReader(bad)); err == nil {
			for i, f := range unpacked(t, bad) {
				if f.Name != whole[i].Name || !bytes.Equal(f.text, whole[i].text) {
					t.Errorf("byte %d: %+v", at, c)
				}
			}
		} else if _, ok := errors.AsType[*Refused](err); !ok {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// What a signer that is believed puts into an archive has to fit all the same.
func TestSignedAndWrong(t *testing.T) {
	other := strings.Repeat("0", 40)
	for name, change := range map[string]func(s *sample){
		"a commit that is not there": func(s *sample) { s.facts.Commits = append(s.facts.Commits, other) },
		"no name of a commit":        func(s *sample) { s.facts.Commits = []string{"HEAD"} },
		"no commit":                  func(s *sample) { s.facts.Commits = []string{} },
		"another format":             func(s *sample) { s.facts.ObjectFormat = "sha256" },
		"a format of nobody's":       func(s *sample) { s.facts.ObjectFormat = "sha1\n[core]\n\tfsmonitor = x" },
		"no objects":                 func(s *sample) { s.members = s.members[2:] },
		"other objects":              func(s *sample) { s.members[1] = Text(objectsName, []byte("PACK")) },
		"another policy":             func(s *sample) { s.members[3].text = []byte("forbid x: y\n  true\n") },
		"a policy's name":            func(s *sample) { s.facts.Policies[0].SHA256 = strings.Repeat("0", 64) },
		"a member of nobody's":       func(s *sample) { s.members = append(s.members, Text("run.sh", nil)) },
		"a path":                     func(s *sample) { s.members = append(s.members, Text("attestations/../../x.txt", nil)) },
		"twice":                      func(s *sample) { s.members = append(s.members, s.members[0]) },
		"another tip":                func(s *sample) { s.facts.Tip = other },
		"a commit twice":             func(s *sample) { s.facts.Commits = append(s.facts.Commits, s.facts.Commits...) },
		"another order":              func(s *sample) { s.facts.Commits, s.facts.Tip = []string{s.facts.Tip, s.base}, s.base },
		"a policy of nobody's":       func(s *sample) { s.facts.Policies = []Policy{} },
		"large":                      func(s *sample) { s.members[0].text = make([]byte, maxText+1) },
	} {
		s := newSample(t, "sha1")
		change(s)
		s.refused(t, name, bytes.NewReader(s.write(t)))
	}
	s := newSample(t, "sha1")
	s.members[2].text = bytes.Replace(s.members[2].text, []byte("SUCCESS"), []byte("SUCCES5"), 1)
	if c, err := s.verify(bytes.NewReader(s.write(t))); err != nil || c.Found[0].Status != attest.Nothing {
		t.Errorf("a forged attestation: %+v, %v", c, err)
	}
}

// A few bytes that unpack to many cost neither memory nor time.
func TestBomb(t *testing.T) {
	s := newSample(t, "sha1")
	first := unpacked(t, s.write(t))[0]
	for name, before := range map[string][]file{"manifest": nil, "member": {first}} {
		called := ManifestName
		if before != nil {
			called = unpacked(t, s.write(t))[1].Name
		}
		r, w := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
			tw := tar.NewWriter(z)
			for _, f := range before {
				_ = tw.WriteHeader(f.Header)
				_, _ = tw.Write(f.text)
			}
			_ = tw.WriteHeader(header(called, 1<<40))
			for zeros := make([]byte, 1<<20); ; {
				if _, err := tw.Write(zeros); err != nil {
					return // nobody reads any more
				}
			}
		}()
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		s.refused(t, name, r)
		runtime.ReadMemStats(&is)
		r.Close()
		<-done
		if grown := is.TotalAlloc - was.TotalAlloc; grown > 32<<20 {
			t.Errorf("%s: %d bytes were taken", name, grown)
		}
	}
}

// A stranger's text is only text on the page.
func TestPage(t *testing.T) {
	hostile := "</td><script>alert(1)</script>\x1b[31m\u202e"
	s := &attest.Statement{}
	s.Predicate.Relay = attest.Change{Run: hostile, Evidence: hostile, Unknown: []string{hostile}, Approvals: []attest.Approval{{Kind: hostile}}, Isolation: attest.Isolation{Means: hostile, Gaps: []string{hostile}}}
	cost := 0.25
	m, err := Page(Facts{Range: hostile, Tip: hostile, Unknown: []string{hostile}, Runs: []Run{{ID: hostile, Calls: []attest.Plugin{{Role: hostile, Model: hostile, Calls: 1}, {Calls: 1, CostUSD: &cost}}}}},
		[]Landed{{Commit: "abc", Subject: hostile, Statement: s}, {Commit: "def"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "\x1b", "\u202e", "ZgotmplZ", "http:", "https:"} {
		if bytes.Contains(m.text, []byte(bad)) {
			t.Errorf("%q is there", bad)
		}
	}
	for _, want := range []string{"at least $0.2500, and 1 call of unknown cost", "no attestation", "nobody that can be named"} {
		if !bytes.Contains(m.text, []byte(want)) {
			t.Errorf("%q is not there:\n%s", want, m.text)
		}
	}
}

// A range leaves out no commit between two of its own; a branch that began before it may stand on what it lacks.
func TestGaps(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	out, err := exec.Command("sh", "-ec", `git init -q -b main "$0"; cd "$0"; git config user.name a; git config user.email a@example.org
c() { git commit -q --allow-empty -m "$1"; git tag "$1"; }
c a; c b; git switch -qc side a; c s; git switch -q main; c d; git merge -qm m side; git tag m; git rev-parse a b s d m`, dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	git, err := git.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	a, b, s, d, m := names[0], names[1], names[2], names[3], names[4]
	for _, tt := range []struct {
		name, why string
		list      []string
	}{
		{"all", "", []string{a, s, b, d, m}}, {"without its beginning", "", []string{s, d, m}}, {"one", "", []string{d}},
		{"one is left out", "leaves out the commit", []string{b, s, m}}, {"reversed", "not in order", []string{m, d, s, b, a}},
	} {
		if err := gaps(ctx, git, tt.list); (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
