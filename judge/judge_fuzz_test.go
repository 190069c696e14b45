package judge

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// source turns fuzz bytes into values; when it is used up all are zero.
type source []byte

func (s *source) byte() byte {
	if len(*s) == 0 {
		return 0
	}
	b := (*s)[0]
	*s = (*s)[1:]
	return b
}

func (s *source) pick(from ...string) string { return from[int(s.byte())%len(from)] }

func (s *source) flag() bool { return s.byte()&1 == 1 }

// path is mostly made of parts that mean something to some rule.
func (s *source) path() string {
	parts := []string{s.pick("src", "docs", ".relay", "build", ".git", "a", "ci", "..")}
	for range s.byte() % 4 {
		parts = append(parts, s.pick("a.txt", ".env", "go.sum", "x\n", "lib", "index", "relay.config.json", "\xff", "secret", ".git", "é", "", ".."))
	}
	return strings.Join(parts, "/")
}

func (s *source) mode() fs.FileMode {
	types := []fs.FileMode{0, 0, 0, fs.ModeDir, fs.ModeSymlink, fs.ModeNamedPipe, fs.ModeSetuid, fs.ModeDevice}
	return types[int(s.byte())%len(types)] | fs.FileMode(s.byte())&0o777
}

func (s *source) change() Change {
	return Change{
		Path: s.path(), Kind: ChangeKind(s.byte() % 7), OldMode: s.mode(), NewMode: s.mode(),
		Link: s.pick("", "a.txt", "/etc/passwd", "../docs", ".env", "../../x"), Nlink: uint32(s.byte() % 3),
		Ignored: s.flag(), Lines: LineCount{Charge: int32(s.byte())},
	}
}

func (s *source) touched() Touched {
	t := Touched{Branch: s.pick("main", ""), Overflow: s.byte() == 1, RootMode: s.byte() == 1}
	for range s.byte() % 4 {
		c := s.change()
		c.Path = s.pick("index", "HEAD", "refs/heads/main", "refs/tags/v", "hooks/x", "objects/ab/c", "config", "logs/HEAD")
		t.Git = append(t.Git, c)
	}
	for range s.byte() % 8 {
		t.Changes = append(t.Changes, s.change())
	}
	return t
}

func (s *source) policy() Policy {
	return Policy{
		kind:            TaskKind(s.pick("execute", "verify_only", "question", "")),
		within:          [][]string{{"**"}},
		opens:           true,
		allowed:         []string{s.pick("src/**", "**", "src/*", "docs/a.txt", "é")},
		scratch:         []string{s.pick("src/*", "**/cache/**")},
		forbidden:       []string{s.pick("**/.env*", ".git/**", "**/*secret*", "docs/**")},
		owned:           []string{".relay/**", "relay.config.json"},
		protected:       []string{"ci/**"},
		lockfiles:       []string{"go.sum"},
		newFiles:        s.flag(),
		lockfileChanges: s.flag(),
		maxFiles:        int(s.byte()),
		maxLines:        int(s.byte()) * 4,
		commits:         BuilderCommits(s.pick("squash", "stop", "keep")),
	}
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x00\x00\x00\x00\x01\x00\x01\x00\x02\x00\xa4\x00\xa4\x00\x01\x00\x02\x00\x00\x00\x00\x01\x01\x20\x20"))
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := source(data)
		touched, policy := s.touched(), s.policy()
		v := Judge(touched, policy)
		if again := Judge(touched, policy); !reflect.DeepEqual(v, again) {
			t.Fatalf("two verdicts:\n%+v\n%+v", v, again)
		}
		if (v.Code == Success) != (len(v.Violations) == 0) || v.Code != Success && v.Violations[0].Code != v.Code {
			t.Fatalf("code and violations disagree: %+v", v)
		}
		if !slices.IsSortedFunc(v.Violations, func(a, b Violation) int { return ranked(a.Code) - ranked(b.Code) }) {
			t.Fatalf("out of order: %+v", v.Violations)
		}
		for _, c := range touched.Changes {
			checkLaw(t, c, policy, v)
		}
		// Forbidding more never makes a stop a success.
		stricter := policy
		stricter.forbidden = append(slices.Clone(policy.forbidden), s.pick("**", "src/**", "a.txt", "docs/*"))
		if w := Judge(touched, stricter); v.Code != Success && w.Code == Success || ranked(w.Code) > ranked(v.Code) && v.Code != Success {
			t.Fatalf("%s became %s by forbidding %q", v.Code, w.Code, stricter.forbidden)
		}
		if v.Code == Success && (len(v.Kept) > policy.maxFiles || policy.kind != Execute && len(v.Kept) > 0) {
			t.Fatalf("kept %d", len(v.Kept))
		}
	})
}

// checkLaw holds what is true of any single change, whatever the rest is.
func checkLaw(t *testing.T, c Change, p Policy, v Verdict) {
	t.Helper()
	kept := slices.ContainsFunc(v.Kept, func(k Change) bool { return k.Path == c.Path })
	// What belongs to a repository among a build's output, or git rewrites by looking at one, is thrown away.
	nested := nestedIndex(&c) || c.Ignored && strings.Contains(c.Path, "/.git")
	hostile := badName(&c) != ""
	// A forbidden name among the ignored output of tools is thrown away as well.
	_, output := outputs.first(c.Path)
	forbidden := Match(p.forbidden, c.Path) && !(c.Ignored && output && !kept)
	switch {
	case Match(p.owned, c.Path) && v.Code != StopRunnerOwned:
		t.Fatalf("%q is relay's own: %s", c.Path, v.Code)
	case !Match(p.owned, c.Path) && (forbidden || hostile && !nested) && ranked(v.Code) > ranked(StopForbidden), forbidden && v.Code == Success:
		t.Fatalf("%q is forbidden: %s", c.Path, v.Code)
	case v.Code != Success || !kept:
	case hostile:
		t.Fatalf("%q has a hostile name and would land", c.Path)
	case !Match(p.allowed, c.Path):
		t.Fatalf("%q is outside and would land", c.Path)
	case c.Kind == Special || c.Kind == 0 || c.Kind != Deleted && c.NewMode&(fs.ModeNamedPipe|fs.ModeDevice|fs.ModeSetuid) != 0:
		t.Fatalf("%q is special and would land", c.Path)
	case c.Kind != Deleted && c.NewMode&fs.ModeSymlink != 0 && (c.Link == "" || c.Link[0] == '/'):
		t.Fatalf("%q links out and would land", c.Path)
	}
	if v.Code == Success && !kept && !c.Ignored && !nested && !folder(&c, Match(p.allowed, c.Path)) {
		t.Fatalf("%q was dropped without being ignored", c.Path)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("src/**", "src/a/b")
	f.Add("*?*a", "世a")
	f.Add("a**/[b", "\xff/")
	f.Fuzz(func(t *testing.T, glob, path string) {
		got := Match([]string{glob}, path)
		if ValidGlob(glob) == nil && !strings.ContainsAny(glob, "*?") && got != (glob == path) {
			t.Fatalf("literal %q, %q: %v", glob, path, got)
		}
		if got && !Match([]string{"**"}, path) {
			t.Fatalf("** does not match %q", path)
		}
		if got && !Match([]string{"**/" + glob}, path) {
			t.Fatalf("**/%s does not match %q", glob, path)
		}
		if got && !Match([]string{glob}, path) {
			t.Fatal("two answers")
		}
	})
}

func FuzzHostileName(f *testing.F) {
	f.Add("src/a.txt")
	f.Add("src/.GIT /x")
	f.Fuzz(func(t *testing.T, path string) {
		if HostileName(path) != "" {
			return
		}
		for part := range strings.SplitSeq(path, "/") {
			if strings.EqualFold(part, ".git") {
				t.Fatalf("%q passes", path)
			}
		}
		for i := range len(path) {
			if path[i] < ' ' || path[i] == 0x7f {
				t.Fatalf("%q passes", path)
			}
		}
	})
}
