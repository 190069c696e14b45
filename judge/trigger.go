package judge

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
)

// Trigger is a kind of file, or a part of one, that a program runs or obeys without being
// told to: when a person opens, clones, installs, commits, builds, tests or pushes, or starts
// an agent in the repository.
type Trigger struct {
	Glob string
	// Part says which part of the file counts, "" for all of it; see [ChangedParts].
	Part string
	// Who names the program and what it does with the file; When is the moment, one
	// word; Source says where that is written.
	Who, When, Source string
}

//go:embed triggers.txt
var triggerTable string

// Triggers is the whole table.
func Triggers() []Trigger { return triggers().rows }

// triggerSet is the table with ways into it: most entries are a name at any depth.
type triggerSet struct {
	rows    []Trigger
	files   map[string]int // of "**/name"
	folders map[string]int // of "**/name/**"
	globs   globSet        // all others, which rows begin with
}

var triggers = sync.OnceValue(func() *triggerSet {
	s := &triggerSet{files: map[string]int{}, folders: map[string]int{}}
	var globs []string
	var named []Trigger
	for line := range strings.Lines(triggerTable) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		col := strings.Split(line, " | ") // the tests hold each line to five
		for i := range col {
			col[i] = strings.TrimSpace(col[i])
		}
		t, glob := Trigger{Glob: col[0], Part: col[1], Who: col[2], When: col[3], Source: col[4]}, strings.ToLower(col[0])
		if name, ok := strings.CutPrefix(glob, "**/"); !ok || strings.ContainsAny(strings.TrimSuffix(name, "/**"), "*?/") {
			s.rows, globs = append(s.rows, t), append(globs, glob)
		} else {
			named = append(named, t)
		}
	}
	for _, t := range named {
		name := strings.TrimPrefix(strings.ToLower(t.Glob), "**/")
		if folder, ok := strings.CutSuffix(name, "/**"); ok {
			s.folders[folder] = len(s.rows)
		} else {
			s.files[name] = len(s.rows)
		}
		s.rows = append(s.rows, t)
	}
	s.globs = compile(globs)
	return s
})

// TriggerOf gives the entry of the table that a path falls under, in any spelling that a
// file system may take for it, or nil.
func TriggerOf(name string) *Trigger {
	s := triggers()
	name = foldSpelling(name)
	base := name[strings.LastIndexByte(name, '/')+1:]
	for part := range strings.SplitSeq(name, "/") {
		if i, ok := s.folders[part]; ok {
			return &s.rows[i]
		}
	}
	if i := s.globs.index(name); i >= 0 {
		return &s.rows[i]
	}
	if i, ok := s.files[base]; ok {
		return &s.rows[i]
	}
	return nil
}

// foldSpelling is the path as a file system reads it that folds letter case, takes a backslash
// for a slash, and drops dots and spaces at the end of a name and what follows a colon.
func foldSpelling(name string) string {
	var out []string
	for part := range strings.FieldsFuncSeq(strings.Map(foldRune, name), func(r rune) bool { return r == '/' || r == '\\' }) {
		if folded := foldName(part); folded != "" {
			part = folded
		}
		out = append(out, part)
	}
	return strings.Join(out, "/")
}

// foldRune gives the least of the letters that differ by case only: the long s is an s.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}

// Triggered reports whether a change makes or alters what a program runs or obeys.
func Triggered(c *Change) bool {
	_, _, ok := triggered(c)
	return ok
}

// triggered says what a change would make run, and whether it does: which program, and
// by which parts of the file.
func triggered(c *Change) (t *Trigger, parts string, ok bool) {
	if t = TriggerOf(c.Path); t == nil {
		return nil, "", false
	}
	if t.Part == "" {
		return t, "", true
	}
	if c.Parts != nil && len(c.Parts) == 0 || c.Kind == ModeOnly {
		return t, "", false
	}
	return t, strings.Join(c.Parts, ", "), true
}

// opens holds a change to the table. Who names the file itself in the scope, and may,
// opens it; that it was opened is a part of the verdict.
func (j *trial) opens(c *Change, inside bool) {
	t, parts, ok := triggered(c)
	if _, forbidden := j.forbidden.first(c.Path); !ok || !inside || forbidden {
		return
	}
	what := t.Who
	if parts != "" {
		what = parts + " in it: " + what
	}
	if j.policy.opens && (j.named[c.Path] || j.named[t.Glob] || j.named[strings.TrimPrefix(t.Glob, "**/")]) {
		j.out.Opened = append(j.out.Opened, Opened{Path: c.Path, Who: t.Who, When: t.When, Parts: c.Parts})
		return
	}
	j.breaks(StopForbidden, c.Path, "is run or obeyed by itself (%s); only your own task whose allowed_globs name %q may change it", what, c.Path)
}

// Opened is a change that lands and that a program will run or obey by itself.
type Opened struct {
	Path      string
	Parts     []string // those that changed, where only parts count
	Who, When string
}
