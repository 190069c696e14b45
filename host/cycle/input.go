package cycle

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/git"
)

// InputFacts says what auditors read, by name and size.
type InputFacts struct {
	SHA256           string   `json:"sha256"`            // of input.txt
	Commit           string   `json:"commit"`            // of the branch
	ReferencesCommit string   `json:"references_commit"` // the references are as in this commit
	References       []Sized  `json:"references"`
	Files            int      `json:"files"`
	Bytes            int64    `json:"bytes"`              // code and references together
	LeftOut          []string `json:"left_out,omitempty"` // files, and why
	Warnings         []string `json:"warnings,omitempty"`
	Largest          []Sized  `json:"-"` // all files of the code, for Input
}

// Input says what auditors of a service would read now. Facts may be there beside the
// error.
func Input(ctx context.Context, e *Env, s *config.Service) (*InputFacts, error) {
	git, err := git.Open(ctx, e.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	head, _, err := git.Head(ctx)
	if err != nil {
		return nil, diag.Git(err)
	}
	c := &Cycle{env: e, git: git, rec: Record{ServiceID: s.Service.ID, ConfigSnapshot: *s, Iteration: 1}}
	m, err := c.gather(ctx, &InputFacts{Commit: head, ReferencesCommit: head})
	if m == nil {
		return nil, err
	}
	refs := map[string]bool{}
	for _, r := range m.facts.References {
		refs[r.Path] = true
	}
	if err == nil {
		m.facts.Warnings, err = c.stale(ctx, git, m.facts, refs)
	}
	return &m.facts, err
}

// Sized is a file with its size.
type Sized struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

// material is the text that models read.
type material struct {
	facts      InputFacts
	spec       string
	references string
	code       string // plain
	numbered   string // with line numbers
}

// blob is one file of a commit.
type blob struct {
	path, oid string
	size      int64
	link, sub bool
}

// tree lists the files of a commit.
func tree(ctx context.Context, git *git.Repo, commit string) ([]blob, error) {
	out, err := git.Run(ctx, nil, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, diag.Git(err)
	}
	var all []blob
	for _, line := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		f := strings.Fields(head) // mode, type, oid, size
		if !ok || len(f) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(f[3], 10, 64)
		all = append(all, blob{path: name, oid: f[2], size: size, link: f[0] == "120000", sub: f[1] != "blob"})
	}
	return all, nil
}

// contents reads the blobs in one call.
func contents(ctx context.Context, git *git.Repo, blobs []blob) (map[string][]byte, error) {
	var ask strings.Builder
	for _, b := range blobs {
		ask.WriteString(b.oid + "\n")
	}
	out, err := git.Run(ctx, strings.NewReader(ask.String()), "cat-file", "--batch")
	if err != nil {
		return nil, diag.Git(err)
	}
	all := map[string][]byte{}
	for _, b := range blobs {
		head, rest, ok := bytes.Cut(out, []byte("\n"))
		f := strings.Fields(string(head))
		if !ok || len(f) != 3 || f[0] != b.oid {
			return nil, diag.New(judge.BlockedCrashRecovery, "git can't read "+b.path, string(head), "`git fsck`")
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || n+1 > len(rest) {
			return nil, diag.New(judge.BlockedCrashRecovery, "git can't read "+b.path, string(head), "`git fsck`")
		}
		all[b.path], out = rest[:n], rest[n+1:]
	}
	return all, nil
}

// gather reads what auditors get: the branch's code, and the references from HEAD of
// the operator's checkout. With commits given it reads the same again.
func (c *Cycle) gather(ctx context.Context, known *InputFacts) (*material, error) {
	m := &material{}
	var err error
	repo, err := git.Open(ctx, c.env.Root)
	if err != nil {
		return nil, diag.Git(err)
	}
	if known != nil {
		m.facts.Commit, m.facts.ReferencesCommit = known.Commit, known.ReferencesCommit
	} else {
		if m.facts.Commit, err = c.tip(ctx); err != nil {
			return nil, err
		}
		if m.facts.ReferencesCommit, _, err = repo.Head(ctx); err != nil {
			return nil, diag.Git(err)
		}
	}
	refs, err := c.takeReferences(ctx, repo, m)
	if err != nil {
		return nil, err
	}
	if err := c.takeCode(ctx, m, refs); err != nil {
		return nil, err
	}
	if most := int64(c.rec.ConfigSnapshot.Input.MaxTotalKB) * 1000; m.facts.Bytes > most {
		return m, tooMuch(m.facts.Bytes, most, c.rec.ServiceID)
	}
	if known == nil {
		m.facts.Warnings, err = c.stale(ctx, repo, m.facts, refs)
	}
	return m, err
}

func tooMuch(have, most int64, service string) error {
	return diag.New(judge.BlockedMissingConfig, fmt.Sprintf("there is more to read than an audit may: %d KB of %d KB", have/1000, most/1000),
		"a cut audit would pass over what was cut off", "`relay audit service check "+service+"` lists the largest files; narrow code or references, or raise input.max_total_kb")
}

// takeReferences reads the references; one that is not there is an error.
func (c *Cycle) takeReferences(ctx context.Context, repo *git.Repo, m *material) (map[string]bool, error) {
	all, err := tree(ctx, repo, m.facts.ReferencesCommit)
	if err != nil {
		return nil, err
	}
	s := &c.rec.ConfigSnapshot
	picked, err := references(s, all)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	var want []blob
	for _, b := range picked {
		names[b.path] = true
		if b.size > int64(s.Input.MaxReferenceKB)*1000 {
			return nil, diag.New(judge.BlockedMissingConfig, fmt.Sprintf("the reference %s is too large: %d KB of %d KB", b.path, b.size/1000, s.Input.MaxReferenceKB),
				"references are never cut", "`relay audit service check "+s.Service.ID+"` lists their sizes; take a smaller one, or raise input.max_reference_kb")
		}
		want = append(want, b)
	}
	texts, err := contents(ctx, repo, want)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	for _, b := range want {
		text := texts[b.path]
		if why := notText(text); why != "" {
			m.leaveOut(b.path, why)
			continue
		}
		if b.path == s.Service.Spec {
			m.spec = string(text)
		} else {
			fmt.Fprintf(&out, "=== %s\n%s\n", b.path, strings.TrimRight(string(text), "\n"))
		}
		m.facts.References = append(m.facts.References, Sized{b.path, b.size})
		m.facts.Bytes += b.size
	}
	m.references = out.String()
	return names, nil
}

// references picks what a service names from a commit's files.
func references(s *config.Service, all []blob) ([]blob, error) {
	want := slices.Clone(s.References)
	if s.Service.Spec != "" {
		want = append(want, s.Service.Spec)
	}
	var out []blob
	seen := map[string]bool{}
	add := func(pattern string) int {
		n := 0
		for _, b := range all {
			if b.sub || b.link || b.path != pattern && !strings.HasPrefix(b.path, strings.TrimSuffix(pattern, "/")+"/") && !judge.Match([]string{pattern}, b.path) {
				continue
			}
			n++
			if !seen[b.path] {
				seen[b.path] = true
				out = append(out, b)
			}
		}
		return n
	}
	var missing []string
	for _, p := range want {
		if add(p) > 0 {
			continue
		}
		for _, b := range all {
			if b.link && (b.path == p || strings.HasPrefix(p, b.path+"/")) {
				return nil, diag.New(judge.BlockedMissingConfig, "a reference is a symbolic link, or behind one: "+p, b.path+" is a link in HEAD, and relay follows none",
					"`git cat-file -p "+diag.Word("HEAD:"+b.path)+"` says where it leads; name that file in the service's file")
			}
		}
		missing = append(missing, p)
	}
	if len(missing) > 0 {
		return nil, diag.New(judge.BlockedMissingConfig, "a reference is not there: "+strings.Join(missing, ", "), "references come from HEAD, and HEAD has no such file",
			"`git log --oneline -- "+diag.Word(missing[0])+"` says whether it was ever committed; commit it, or take it out of the service's file")
	}
	add("references/" + s.Service.ID + "/")
	return out, nil
}

// lfsPointer begins a file that stands in for one of git LFS.
const lfsPointer = "version https://git-lfs.github.com/spec/"

// always are files that nobody audits.
var always = []string{".git/**", "**/.git/**"}

// takeCode reads the branch's files.
func (c *Cycle) takeCode(ctx context.Context, m *material, refs map[string]bool) error {
	all, err := tree(ctx, c.git, m.facts.Commit)
	if err != nil {
		return err
	}
	s := &c.rec.ConfigSnapshot
	hidden := slices.Concat(always, c.env.Config.Scope.DefaultForbiddenGlobs, s.Scope.ForbiddenGlobs, c.env.WS.OwnedGlobs())
	var want []blob
	for _, b := range all {
		switch {
		case refs[b.path] || !judge.Match(s.Code, b.path) || judge.Match(s.CodeExclude, b.path):
		case slices.Contains(c.env.Config.Scope.Lockfiles, path.Base(b.path)):
		case judge.Match(hidden, b.path):
			m.leaveOut(b.path, "forbidden")
		case b.sub:
			m.leaveOut(b.path, "another repository")
		case b.link:
			m.leaveOut(b.path, "a symbolic link")
		case b.size > int64(s.Input.MaxFileKB)*1000:
			m.leaveOut(b.path, fmt.Sprintf("%d KB, the limit is %d KB", b.size/1000, s.Input.MaxFileKB))
		default:
			want = append(want, b)
		}
	}
	texts, err := contents(ctx, c.git, want)
	if err != nil {
		return err
	}
	var plain, numbered strings.Builder
	for _, b := range want {
		text := texts[b.path]
		if why := notText(text); why != "" {
			m.leaveOut(b.path, why)
			continue
		}
		m.facts.Largest = append(m.facts.Largest, Sized{b.path, b.size})
		m.facts.Files++
		m.facts.Bytes += b.size
		fmt.Fprintf(&plain, "=== %s\n%s", b.path, text)
		if !bytes.HasSuffix(text, []byte("\n")) {
			plain.WriteString("\n")
		}
		n := 0
		fmt.Fprintf(&numbered, "=== %s\n", b.path)
		for line := range strings.Lines(string(text)) {
			n++
			fmt.Fprintf(&numbered, "%5d  %s\n", n, strings.TrimRight(line, "\r\n"))
		}
	}
	if m.facts.Files == 0 {
		return diag.New(judge.BlockedMissingConfig, "the service has no code to audit", "no file of the branch matches code, or all of them are left out", "`relay audit service show "+s.Service.ID+"`, then correct code and code_exclude")
	}
	m.code, m.numbered = plain.String(), numbered.String()
	return nil
}

func (m *material) leaveOut(path, why string) {
	m.facts.LeftOut = append(m.facts.LeftOut, path+": "+why)
}

// notText says why a file can't be read as text, "" when it can. What git LFS keeps
// elsewhere is binary by all experience, and what stands in for it says nothing about it.
func notText(b []byte) string {
	if bytes.HasPrefix(b, []byte(lfsPointer)) && len(b) < 1024 {
		return "an LFS pointer, its content is not read"
	}
	if bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 || !utf8.Valid(b) {
		return "binary"
	}
	return ""
}

// stale warns of references that are not what they seem.
func (c *Cycle) stale(ctx context.Context, repo *git.Repo, f InputFacts, refs map[string]bool) ([]string, error) {
	var out []string
	status, err := c.env.where(nil).Filtering().Decide(repo).Status(ctx)
	if err != nil {
		return nil, diag.Git(err)
	}
	others := 0
	for _, e := range status {
		switch {
		case refs[e.Path]:
			out = append(out, fmt.Sprintf("the reference %s has changes in your checkout that are not committed; auditors read it as HEAD has it", e.Path))
		case !judge.Match(c.env.WS.OwnedGlobs(), strings.TrimSuffix(e.Path, "/")):
			others++
		}
	}
	if others > 0 && c.rec.Iteration == 1 {
		out = append(out, "your checkout has "+format.Count(others, "uncommitted change")+", which the cycle does not see")
	}
	branch, err := tree(ctx, c.git, f.Commit)
	if err != nil {
		return nil, err
	}
	head, err := tree(ctx, repo, f.ReferencesCommit)
	if err != nil {
		return nil, err
	}
	oids := map[string]string{}
	for _, b := range branch {
		oids[b.path] = b.oid
	}
	for _, b := range head {
		if have, ok := oids[b.path]; refs[b.path] && ok && have != b.oid {
			out = append(out, fmt.Sprintf("the branch has another version of %s than HEAD; auditors read HEAD's", b.path))
		}
	}
	return out, nil
}

// text is input.txt: all that auditors read, for people.
func (m *material) text(service string) []byte {
	var b strings.Builder
	f := m.facts
	fmt.Fprintf(&b, "Service %s\nCode of commit %s: %d files\nReferences of commit %s: %d files\nTogether %d bytes\n", service, f.Commit, f.Files, f.ReferencesCommit, len(f.References), f.Bytes)
	for _, r := range f.References {
		fmt.Fprintf(&b, "  reference %s, %d bytes\n", r.Path, r.Bytes)
	}
	for _, l := range f.LeftOut {
		fmt.Fprintf(&b, "  left out %s\n", l)
	}
	for _, w := range f.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", w)
	}
	fmt.Fprintf(&b, "\n##### Specification\n%s\n##### References\n%s\n##### Code\n%s", m.spec, m.references, m.numbered)
	return []byte(b.String())
}
