//go:build linux || darwin

package box

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/judge"
)

// Weaker are the means without namespaces, which show a copy of the repository. They are
// a package of their own, which a program that wants them imports; this one imports none.
type Weaker interface {
	// Open gives what such a box has of its own. from is what the box has whose changes are
	// verified in this one, nil for none.
	Open(of Layout, from Copies) Copies
	// Grouped reports whether the kernel can hold root to a number of processes.
	Grouped() bool
	// Sweep removes the control groups that relays which were killed have left.
	Sweep() int
}

// Layout is what there is of a box before its means comes into it.
type Layout struct {
	Spec
	// Dir is the folder that holds the layer, "" with ReadOnlyRoot.
	Dir string
	// Lowers are the folders that it is a layer of; the root comes first.
	Lowers []string
	// States are relay's state in git directories.
	States []string
	// Scratch is where what is thrown away may go when there is no layer.
	Scratch string
	// Shut is what is hidden of Spec.Hide.
	Shut []Hidden
}

// Copies is what a box of copies has of its own.
type Copies interface {
	// Make makes the copies in a new layer, Load reads what Make has left.
	Make() error
	Load() error
	// Copy is where the copy of the i-th folder lies.
	Copy(i int) string
	// Compare tells what is new in it.
	Compare(i int) Compare
	// Start runs a process. The lock is the layer's, and belongs to the process when it runs.
	Start(p Proc, lock *os.File) (*Process, error)
	// Undone is what was changed in the real repository, and put back: one line each, with
	// those that lie elsewhere than in the folders that are copied. The error is what could
	// not be put back.
	Undone() (found, elsewhere []string, err error)
}

// Compare says of one copy what the real folder can't.
type Compare interface {
	// Had reports whether a path was copied.
	Had(path string) bool
	// Untouched reports whether what lies in the copy is what was put there.
	Untouched(path string, now *unix.Stat_t) bool
	// Raced reports whether the real file is another one than was copied.
	Raced(path string, now judge.Stamp) bool
}

var (
	weaker Weaker
	// roles are what this program is when it was started under one of these names.
	roles = map[string]func(){}
)

// Register makes the weaker means known, before Init.
func Register(w Weaker) { weaker = w }

// As has a process that relay starts under a name do something else, before Init.
func As(name string, do func()) { roles[name] = do }

// copied is what a box of copies has besides.
type copied struct{ weak Copies }

// openWeaker prepares a box of copies. from is the box whose changes are verified in it.
func (b *Box) openWeaker(from Copies) error {
	if b.spec.Means == Overlay {
		return nil
	}
	if weaker == nil {
		return &Error{Op: "use box.means", Path: b.spec.Means, Unsupported: true, Why: "this relay was built without the weaker means",
			Fix: "`relay config show box --origin` says where it is set"}
	}
	b.weak = weaker.Open(Layout{Spec: b.spec, Dir: b.layer, Lowers: b.lowers(), States: b.spec.states, Shut: b.hidden(),
		Scratch: b.scratch()}, from)
	return nil
}

// copies reports whether the box shows copies.
func (b *Box) copies() bool { return b.spec.Means != Overlay && !b.spec.ReadOnlyRoot }

// Dir is where Root is seen in the box.
func (b *Box) Dir() string {
	if b.copies() {
		return b.weak.Copy(0)
	}
	return b.spec.Root
}

// PutBack are the changes of the real repository that were found and undone, one line
// each; empty where it can't be changed.
func (b *Box) PutBack() []string {
	found, _, _ := b.undone()
	return found
}

func (b *Box) undone() (found, elsewhere []string, err error) {
	if b.weak == nil {
		return nil, nil, nil
	}
	return b.weak.Undone()
}

// cantDo says what a means without namespaces can't do for a process, nil when that is
// not asked for.
func (b *Box) cantDo(p Proc) error {
	switch {
	case p.Confine.OwnNetwork:
		return &Error{Op: "close the network of", Path: b.spec.Root, Unsupported: true,
			Why: "box.means " + b.spec.Means + " can't take the network away", Fix: "`relay doctor` says why this machine allows no overlay"}
	case p.Confine.Grants.Held:
		return &Error{Op: "hold a stranger's program to its grants in", Path: b.spec.Root, Unsupported: true,
			Why: "box.means " + b.spec.Means + " can't do that; overlay can", Fix: "`relay doctor` says why this machine allows no overlay"}
	}
	return nil
}

// grouped reports whether a box of a weaker means can hold root's processes.
func grouped() bool { return weaker != nil && weaker.Grouped() }

// SweepGroups removes the control groups that relays which were killed have left, and
// says how many. The kernel keeps those that something runs in.
func SweepGroups() int {
	if weaker == nil {
		return 0
	}
	return weaker.Sweep()
}
