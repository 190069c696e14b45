package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge/box/internal/tree"
)

// A plan is everything that pid 1 of a box needs to know. It is worked out by the
// host process, outside, and is plain data: auditors of the box read the plan's
// steps in order and knows what the box can see and write.
type plan struct {
	// Scratch is an existing folder where pid 1 mounts its private tmpfs while it
	// prepares; nothing of that mount is visible later.
	Scratch string
	// Away is a folder on disk that takes the place of the tmpfs where tmpfs has
	// no user attributes (Linux before 6.6), which an overlay's upper needs.
	Away   string
	OnDisk bool // use Away in any case
	Steps  []step
	// TmpDir is made in the box, private, for TMPDIR.
	TmpDir string
	Argv   []string
	Env    []string
	Dir    string
	HasExe bool
	Confine
}

// stepKind is what a step attaches at its path. When two steps have the same path,
// the later kind comes on top.
type stepKind int

const (
	stepOverlay stepKind = iota + 1 // the real folder below, writes elsewhere
	stepEmpty                       // an empty tmpfs, with what Make lists in it
	stepBind                        // the real thing, Source
	stepPts                         // an own devpts
	stepProc                        // an own proc
	stepFreeze                      // what is there already, read-only
	stepHidden                      // an empty folder, or a file with Instead
)

// step is one mount. Steps are sorted by path, so that what lies above is attached
// before what lies below.
type step struct {
	Kind stepKind
	Path string
	// Upper and Work take an overlay's writes; "" means they are thrown away.
	Upper, Work string
	// Source of a bind, or what lies below an overlay; "" is Path.
	Source string
	// Above is a folder that an overlay shows above what lies below; "" for none.
	Above string
	// Writable, for stepEmpty and stepBind.
	Writable bool
	// Instead of the file's content, for stepHidden; Dir is that it is a folder.
	Instead []byte
	Dir     bool
	// Device: a bind of a device node, which needs a mount that allows devices.
	Device bool
	// Optional: left out when it can't be made, which only ever shows less.
	Optional bool
	// Live: its owner can remove it at any time, also after it was planned. Then it is left
	// out with what is below it.
	Live bool
	// Make is what a stepEmpty holds: mount points for later steps, links, files; or what is
	// made in an overlay whose writes are thrown away.
	Make []entry
	Mode uint32
}

// entry is one thing in an empty tmpfs, at a path relative to it.
type entry struct {
	Path string
	Link string // a symbolic link to this
	Copy bool   // a copy of the real file at the same place
	Dir  bool   // a folder; with neither of the three, an empty file
	Mode uint32
}

// maxCopy is the largest file that is copied into a mirrored folder; larger ones
// are bound read-only.
const maxCopy = 1 << 20

// planner collects steps.
type planner struct {
	mounts []string // the host's mount points
	steps  []step
}

// covered finds the step that decides about path: the nearest at or above it.
func (p *planner) covered(path string) (at step, ok bool) {
	for _, s := range p.steps {
		if tree.Within(path, s.Path) && len(s.Path) >= len(at.Path) {
			at, ok = s, true
		}
	}
	return at, ok
}

// throwAway makes path readable as it is and writable without effect. Sockets in
// it can't be connected to, since an overlay's sockets are not the real ones.
func (p *planner) throwAway(path string) {
	if at, ok := p.covered(path); ok && (at.Path == path || at.Upper == "") {
		return // an overlay is there already, or one that is thrown away as well
	}
	p.mirror(path, false)
}

// mirror adds an overlay of path; where file systems are mounted below it, which
// the kernel refuses to hide in a single overlay, an empty folder with an overlay
// of each entry.
func (p *planner) mirror(path string, optional bool) {
	if !p.mountsBelow(path) {
		p.steps = append(p.steps, step{Kind: stepOverlay, Path: path, Optional: optional})
		return
	}
	empty := step{Kind: stepEmpty, Path: path, Writable: true, Optional: optional, Mode: 0o755}
	if info, err := os.Stat(path); err == nil {
		empty.Mode = tree.UnixMode(info.Mode())
	}
	entries, _ := os.ReadDir(path) // what can't be listed can't be used either
	at := len(p.steps)
	p.steps = append(p.steps, empty)
	for _, e := range entries {
		full := filepath.Join(path, e.Name())
		info, err := e.Info()
		if err != nil || p.planned(full) {
			continue // a second overlay would hide the layer of the first
		}
		switch mode := info.Mode(); {
		case mode.IsDir():
			p.mirror(full, true)
		case mode&os.ModeSymlink != 0:
			if target, err := os.Readlink(full); err == nil {
				empty.Make = append(empty.Make, entry{Path: e.Name(), Link: target})
			}
		case mode.IsRegular() && info.Size() <= maxCopy && !slices.Contains(p.mounts, full):
			empty.Make = append(empty.Make, entry{Path: e.Name(), Copy: true, Mode: tree.UnixMode(mode)})
		case mode.IsRegular():
			p.steps = append(p.steps, step{Kind: stepBind, Path: full, Source: full, Optional: true})
		}
	}
	p.steps[at] = empty
}

// hide shows an empty file in place of the real one.
func (p *planner) hide(path string) {
	if at, ok := p.covered(path); ok && (at.Kind == stepHidden && at.Path != path || at.Kind == stepEmpty && !at.Writable) {
		return // what lies above is hidden as a whole
	}
	for i := range p.steps { // no copy of it either
		s := &p.steps[i]
		s.Make = slices.DeleteFunc(s.Make, func(e entry) bool { return filepath.Join(s.Path, e.Path) == path })
	}
	p.steps = slices.DeleteFunc(p.steps, func(s step) bool { return s.Path == path })
	p.steps = append(p.steps, step{Kind: stepBind, Path: path, Source: "/dev/null", Device: true})
}

// conceal shows nothing of what is at path, but for what else is planned below it.
func (p *planner) conceal(h Hidden, dir bool) {
	if at, ok := p.covered(h.Path); ok && (at.Kind == stepHidden || at.Kind == stepEmpty && !at.Writable) {
		return // what lies above is hidden as a whole
	}
	kept := func(s step) bool {
		return s.Upper != "" && !s.Optional || s.Kind == stepBind && s.Path == s.Source && !s.Optional
	}
	p.steps = slices.DeleteFunc(p.steps, func(s step) bool { return tree.Within(s.Path, h.Path) && !kept(s) })
	for i := range p.steps { // no copy of it either
		s := &p.steps[i]
		s.Make = slices.DeleteFunc(s.Make, func(e entry) bool { return filepath.Join(s.Path, e.Path) == h.Path })
	}
	if slices.ContainsFunc(p.steps, func(s step) bool { return tree.Within(s.Path, h.Path) }) {
		p.steps = append(p.steps, step{Kind: stepEmpty, Path: h.Path, Mode: 0o700})
		return
	}
	p.steps = append(p.steps, step{Kind: stepHidden, Path: h.Path, Instead: h.Instead, Dir: dir})
}

// planned says that a step decides about exactly this path.
func (p *planner) planned(path string) bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.Path == path })
}

func (p *planner) mountsBelow(path string) bool {
	return slices.ContainsFunc(p.mounts, func(m string) bool { return m != path && tree.Within(m, path) })
}

// finish sorts the steps and gives every empty folder the mount points it needs.
func (p *planner) finish() []step {
	slices.SortStableFunc(p.steps, func(a, b step) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return int(a.Kind - b.Kind)
	})
	for i, s := range p.steps {
		above := -1
		for j := range i {
			if p.steps[j].Path != s.Path && tree.Within(s.Path, p.steps[j].Path) &&
				(above < 0 || len(p.steps[j].Path) >= len(p.steps[above].Path)) {
				above = j
			}
		}
		if above < 0 || !p.steps[above].holds(s.Path) {
			continue
		}
		point := entry{Path: s.Path[len(p.steps[above].Path)+1:], Dir: true, Mode: 0o755}
		if info, err := os.Stat(s.Path); err == nil {
			point.Dir, point.Mode = info.IsDir(), tree.UnixMode(info.Mode())
		}
		p.steps[above].Make = append(p.steps[above].Make, point)
	}
	return p.steps
}

// holds reports whether the step must make the mount point of one below it.
func (s *step) holds(path string) bool {
	if s.Kind == stepOverlay && s.Upper == "" {
		_, err := os.Lstat(path)
		return err != nil
	}
	return s.Kind == stepEmpty
}

// deviceNodes are the only devices in a box. The host's /dev stays out: a builder
// that runs as root would otherwise own the disks.
var deviceNodes = []string{"null", "zero", "full", "random", "urandom", "tty"}

// addSystem plans /dev and /proc.
func (p *planner) addSystem(root bool) {
	shown := func(s step) bool { // a repository or a home in shared memory
		return tree.Within(s.Path, "/dev/shm") && s.Path != "/dev/shm" && !s.Optional
	}
	p.steps = slices.DeleteFunc(p.steps, func(s step) bool { return tree.Within(s.Path, "/dev") && !shown(s) })
	dev := step{Kind: stepEmpty, Path: "/dev", Mode: 0o755}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx"} {
		dev.Make = append(dev.Make, entry{Path: name, Link: target})
	}
	p.steps = append(p.steps, dev,
		step{Kind: stepPts, Path: "/dev/pts"},
		step{Kind: stepEmpty, Path: "/dev/shm", Writable: true, Mode: 0o1777},
		step{Kind: stepProc, Path: "/proc"})
	for _, name := range deviceNodes {
		p.steps = append(p.steps, step{Kind: stepBind, Path: "/dev/" + name, Source: "/dev/" + name, Writable: true, Device: true, Optional: true})
	}
	// These belong to no namespace: they name the user's keys to every process.
	for _, path := range []string{"/proc/keys", "/proc/key-users"} {
		if _, err := os.Stat(path); err == nil {
			p.steps = append(p.steps, step{Kind: stepBind, Path: path, Source: "/dev/null", Device: true})
		}
	}
	if !root {
		return
	}
	// The kernel lets uid 0 write these by ownership alone, without a capability:
	// kernel.core_pattern would then run a program on the host.
	for _, name := range []string{"sys", "sysrq-trigger", "bus", "fs", "irq", "acpi", "scsi"} {
		p.steps = append(p.steps, step{Kind: stepFreeze, Path: "/proc/" + name})
	}
}
