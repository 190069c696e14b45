package judge

import "io/fs"

// MaxChanges is how many changed paths a layer reader lists before it gives up
// and sets [Touched.Overflow]; such a change is too large whatever its limits say.
const MaxChanges = 50_000

// ChangeKind says in what way a path differs from the base.
type ChangeKind uint8

// The kinds of change. A rename is a deletion and an addition.
const (
	Added    ChangeKind = iota + 1 // absent before
	Modified                       // content, link target or type differs
	Deleted                        // absent now
	ModeOnly                       // same content, other permission bits
	Special                        // FIFO, socket, device, or unreadable: never allowed
)

// Change is one path that differs between the base and what the builder left. There may
// be tens of thousands: the order of the fields leaves little room between them.
type Change struct {
	// Path is relative to the repository's root, slash-separated, and bytes: it
	// need not be valid UTF-8.
	Path string
	// Link is the target when the new object is a symbolic link.
	Link string
	// Note names what is odd about a Special change.
	Note string
	Kind ChangeKind
	// Ignored says that git ignores the path in the untouched repository.
	Ignored bool
	// Raced: the real file changed after the box was opened, so the builder may
	// not have seen what it holds now. Landing the change would lose that.
	Raced bool
	// OldMode and NewMode are type and permission bits; zero when absent.
	OldMode, NewMode fs.FileMode
	// Nlink is the hard-link count of the new object; 0 when absent.
	Nlink uint32
	// Size is the new object's size in bytes.
	Size int64
	// Parts are the parts of the file that a program runs or obeys by itself and that
	// changed; nil where nobody looked. See [ChangedParts].
	Parts []string
	// Lines is the cost of the change in lines.
	Lines LineCount
	// Base is what the real file was when the layer was read; the apply step
	// refuses to overwrite anything else.
	Base Stamp
}

// Stamp identifies one state of a real file. The zero Stamp means "absent".
type Stamp struct {
	Exists bool
	Mode   fs.FileMode
	Size   int64
	Ino    uint64
	MTime  int64 // nanoseconds
	CTime  int64 // nanoseconds
}

// Same compares two stamps. The change time counts only when both know it.
func (s Stamp) Same(o Stamp) bool {
	if s.CTime == 0 || o.CTime == 0 {
		s.CTime, o.CTime = 0, 0
	}
	return s == o
}

// LineCount is the size of one change in lines as people count them, and the
// charge for content where lines say little.
type LineCount struct {
	Added, Deleted int32
	// Charge is what counts against max_lines_changed: added + deleted, plus one
	// for every 200 bytes of a long line; for binary content one for every 80
	// changed bytes.
	Charge int32
	Binary bool
	// TooLarge: the file was over the size that is read at all (8 MiB).
	TooLarge bool
}

// Touched is all that a builder changed, read from the box's layer.
type Touched struct {
	// Changes are the paths outside .git, sorted by Path.
	Changes []Change
	// Git are the paths of the box's .git (or common git directory) relative to it.
	Git []Change
	// GitConfig are the files of the work tree that git reads settings from.
	GitConfig []string
	// Beside is what the base has in the folders of new files; see [Git.Beside].
	Beside []string
	// Branch is the branch that HEAD named at the base, "" when detached.
	Branch string
	// Overflow: more than MaxChanges paths; Changes is then incomplete.
	Overflow bool
	// Elsewhere is what a builder changed in the repository's main work tree, where Root is
	// another one: one line each. It was put back.
	Elsewhere []string
	// RootMode: the permission bits of the repository's root itself were changed.
	RootMode bool
}
