package change

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/url"
	"slices"

	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
)

// plan is all that an apply is about to do: the data of recApply. Together with the
// images of the journal it is enough to finish the apply or to revert it.
type plan struct {
	Base    string          `json:"base"`
	Branch  string          `json:"branch"`
	Commit  string          `json:"commit,omitempty"` // to land; "" when none is made
	Entries []entry         `json:"entries"`
	Dirs    []dirState      `json:"dirs"`
	Moves   moves           `json:"moves,omitempty"` // of submodules: of those only the index hears
	Note    json.RawMessage `json:"note,omitempty"`  // the workflow's own
	// Beside: the work tree is on another branch, and only Branch moves.
	Beside bool `json:"beside,omitempty"`
}

// entry is one path of a plan.
type entry struct {
	Path rawPath `json:"path"`
	Tmp  rawPath `json:"tmp"`
	Old  side    `json:"old"`
	New  side    `json:"new"`
	// Ignored paths are written and not committed.
	Ignored bool `json:"ignored,omitempty"`

	base  judge.Stamp // what Old was when it was compared
	after judge.Stamp // what was written, once it was
}

// side is one state of a path.
type side struct {
	Exists bool        `json:"exists"`
	Mode   fs.FileMode `json:"mode,omitempty"` // type and permission bits
	Size   int64       `json:"size,omitempty"`
	SHA256 string      `json:"sha256,omitempty"`
	Link   string      `json:"link,omitempty"`
	Image  int64       `json:"image,omitempty"` // where in the journal's images
	oid    string      // git's name of these very bytes
}

// same compares what can be seen on disk.
func (s side) same(o side) bool {
	return s.Exists == o.Exists && s.Mode == o.Mode && s.Size == o.Size && s.SHA256 == o.SHA256 && s.Link == o.Link
}

// isOld and isNew tell which side of an entry is there. Where there is nothing on a
// side, there may be a folder: what lies in it are entries of their own.
func (e *entry) isOld(now side) bool {
	return now.same(e.Old) || !e.Old.Exists && now.Mode.IsDir()
}

func (e *entry) isNew(now side) bool {
	return now.same(e.New) || !e.New.Exists && now.Mode.IsDir()
}

func (s side) link() bool { return s.Mode&fs.ModeSymlink != 0 }

// dirState is what a folder on the way to an entry was before the apply.
type dirState struct {
	Path   rawPath     `json:"path"`
	Exists bool        `json:"exists"`
	Mode   fs.FileMode `json:"mode,omitempty"`
}

// rawPath is a path as bytes; JSON can't hold those that are not UTF-8 as they are.
type rawPath string

// MarshalText escapes what JSON or a person could misread.
func (p rawPath) MarshalText() ([]byte, error) { return []byte(url.PathEscape(string(p))), nil }

// UnmarshalText is the reverse.
func (p *rawPath) UnmarshalText(b []byte) error {
	s, err := url.PathUnescape(string(b))
	*p = rawPath(s)
	return err
}

// opener gives the new content of a path that is a regular file afterwards.
type opener func(path string) (io.ReadCloser, error)

// planner fills a plan and the images that belong to it.
type planner struct {
	real *realTree
	log  *journal.Log
	open opener
	blob func(size int64) hash.Hash // starts git's hash of a blob
}

// blobHash gives the function that starts git's own hash of a blob.
func blobHash(objectFormat string) func(size int64) hash.Hash {
	return func(size int64) hash.Hash {
		h := sha1.New()
		if objectFormat == "sha256" {
			h = sha256.New()
		}
		fmt.Fprintf(h, "blob %d\x00", size)
		return h
	}
}

// entries plans all changes. It fails with errMoved when a file is not what it was
// when it was compared.
func (p *planner) entries(kept []judge.Change) ([]entry, error) {
	out := make([]entry, 0, len(kept))
	for _, ch := range kept {
		e := entry{Path: rawPath(ch.Path), Tmp: rawPath(tmpName(ch.Path)), Ignored: ch.Ignored, base: ch.Base}
		if err := p.oldSide(&e); err != nil {
			return nil, err
		}
		if ch.Kind != judge.Deleted {
			if err := p.newSide(&e, ch); err != nil {
				return nil, err
			}
		}
		if tmp, err := p.real.stat(string(e.Tmp)); err != nil || tmp != nil {
			return nil, moved(string(e.Tmp), "a file of this name is in the way")
		}
		out = append(out, e)
	}
	// Deletions first, so that a folder can make room for a file and the reverse.
	slices.SortStableFunc(out, func(a, b entry) int {
		switch {
		case a.New.Exists == b.New.Exists:
			return 0
		case b.New.Exists:
			return -1
		default:
			return 1
		}
	})
	return out, nil
}

// oldSide takes an image of what is about to be replaced.
func (p *planner) oldSide(e *entry) error {
	before, err := p.real.stampAt(string(e.Path))
	if err != nil {
		return unseen(string(e.Path), err)
	}
	if before.Mode.IsDir() && !e.base.Exists || before.Mode.IsDir() && e.base.Mode.IsDir() {
		e.base = judge.Stamp{} // a folder that makes room for a file: its files are entries of their own
		return nil
	}
	if !before.Same(e.base) {
		return moved(string(e.Path), "it was changed while the builder ran")
	}
	image, at, err := p.log.NewImage()
	if err != nil {
		return err
	}
	blob := p.blob(before.Size)
	if e.Old, err = p.real.describe(string(e.Path), io.MultiWriter(image, blob)); err != nil {
		return err
	}
	io.WriteString(blob, e.Old.Link)
	e.Old.Image, e.Old.oid = at, hex.EncodeToString(blob.Sum(nil))
	if after, err := p.real.stampAt(string(e.Path)); err != nil || !before.Same(after) {
		return moved(string(e.Path), "it is being changed right now")
	}
	return nil
}

// newSide takes an image of what is about to be written.
func (p *planner) newSide(e *entry, ch judge.Change) error {
	e.New = side{Exists: true, Mode: ch.NewMode & (fs.ModeType | fs.ModePerm)}
	if e.New.link() {
		e.New.Mode, e.New.Link = fs.ModeSymlink, ch.Link
		h := p.blob(int64(len(ch.Link)))
		io.WriteString(h, ch.Link)
		e.New.oid = hex.EncodeToString(h.Sum(nil))
		return nil
	}
	if !e.New.Mode.IsRegular() {
		return fmt.Errorf("%q is not a plain file", ch.Path)
	}
	f, err := p.open(ch.Path)
	if err != nil {
		return fmt.Errorf("read what was built: %w", err)
	}
	defer f.Close()
	sum, blob := sha256.New(), p.blob(ch.Size)
	image, at, err := p.log.NewImage()
	if err != nil {
		return err
	}
	if e.New.Size, err = io.Copy(io.MultiWriter(image, sum, blob), f); err != nil {
		return err
	}
	e.New.Image = at
	if e.New.Size != ch.Size {
		return fmt.Errorf("%q has %d bytes and was judged with %d", ch.Path, e.New.Size, ch.Size)
	}
	e.New.SHA256, e.New.oid = hex.EncodeToString(sum.Sum(nil)), hex.EncodeToString(blob.Sum(nil))
	return nil
}

// dirs notes what the folders on the way to the entries are now.
func (p *planner) dirs(entries []entry) ([]dirState, error) {
	var out []dirState
	seen := map[string]bool{}
	for _, e := range entries {
		for _, dir := range parents(string(e.Path)) {
			if seen[dir] {
				continue
			}
			seen[dir] = true
			fi, err := p.real.stat(dir)
			if err != nil {
				return nil, unseen(dir, err)
			}
			d := dirState{Path: rawPath(dir), Exists: fi != nil && fi.IsDir()}
			if d.Exists {
				d.Mode = fi.Mode().Perm()
			}
			out = append(out, d)
		}
	}
	return out, nil
}
