package change

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/paxiom/relay/judge"
)

// Rejected is where a rejected change was kept.
type Rejected struct {
	Ref   string // refs/relay/<run id>; "" when there was nothing to keep
	Notes []string
}

// refName is the ref that keeps what a run had built.
func refName(runID string) string { return "refs/relay/" + runID }

// Reject keeps what the builder left as a commit under refs/relay, without what has
// a hostile name, is no plain file or belongs to relay. The bytes are kept as they
// are: no filter sees them. The work tree is not touched.
func (c *Change) Reject(ctx context.Context, m Message) (Rejected, error) {
	var r Rejected
	if c.touched == nil {
		return r, nil
	}
	keep, left := c.keepable()
	if all := len(keep); all > 0 {
		if keep = slices.DeleteFunc(keep, c.withheld); len(keep) < all {
			r.Notes = append(r.Notes, fmt.Sprintf("changed paths that are not kept because they hold a value of a credential: %d", all-len(keep)))
		}
	}
	if left > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("changed paths that are not kept: %d (hostile names, links out, special or very large files, or relay's own)", left))
	}
	if len(keep) == 0 {
		return r, nil
	}
	k := newCommitter(c.env, c.layer)
	defer k.remove()
	if c.base != nil {
		k.from = c.base.Index
	}
	commit, err := k.rawCommit(ctx, c.opts.Base, keep, c.content, m)
	if err != nil {
		return r, fmt.Errorf("keep what was rejected: %w", err)
	}
	if _, err := c.env.write(ctx, nil, nil, "update-ref", refName(c.opts.RunID), commit); err != nil {
		return r, fmt.Errorf("keep what was rejected: %w", err)
	}
	r.Ref = refName(c.opts.RunID)
	return r, nil
}

// maxKept bounds what is kept of a rejected change.
const maxKept = 2000

// keepable are the changes of a rejected build that can do no harm as git objects;
// left is how many others there are. Scratch that git ignores is not counted.
func (c *Change) keepable() (keep []judge.Change, left int) {
	for _, ch := range c.touched.Changes {
		plain := ch.Kind == judge.Deleted || ch.NewMode&fs.ModeType == 0 || ch.NewMode&fs.ModeType == fs.ModeSymlink
		switch {
		case ch.Ignored:
		case len(keep) < maxKept && plain && ch.Kind != judge.Special && ch.Size <= judge.MaxFileSize &&
			judge.HostileName(ch.Path) == "" && !judge.Match(c.env.Owned, ch.Path) && !linksOut(ch.Link):
			keep = append(keep, ch)
		default:
			left++
		}
	}
	return keep, left
}

// linksOut reports whether a link's target is absolute or climbs.
func linksOut(target string) bool {
	return strings.HasPrefix(target, "/") || target == ".." || strings.HasPrefix(target, "../") || strings.Contains(target, "/../")
}

// content gives the new bytes of a change.
func (c *Change) content(ch judge.Change) (io.ReadCloser, error) {
	if ch.NewMode&fs.ModeSymlink != 0 {
		return io.NopCloser(strings.NewReader(ch.Link)), nil
	}
	return c.box.Open(ch.Path)
}

// rawCommit makes a commit of parent's tree and the changes, byte for byte.
func (k *committer) rawCommit(ctx context.Context, parent string, changes []judge.Change, content func(judge.Change) (io.ReadCloser, error), m Message) (string, error) {
	if err := k.copyIndex(); err != nil {
		return "", err
	}
	oids, err := k.rawBlobs(ctx, changes, content)
	if err != nil {
		return "", err
	}
	var removed, added bytes.Buffer
	for i, ch := range changes {
		if ch.Kind == judge.Deleted {
			removed.WriteString(removalLine(k.env.Git, ch.Path))
			continue
		}
		mode := gitMode(side{Exists: true, Mode: ch.NewMode})
		fmt.Fprintf(&added, "%o %s\t%s\x00", mode, oids[i], ch.Path)
	}
	env := []string{"GIT_INDEX_FILE=" + k.index}
	if _, err := k.write(ctx, env, io.MultiReader(&removed, &added), "update-index", "--replace", "-z", "--index-info"); err != nil {
		return "", err
	}
	return k.commit(ctx, parent, m)
}

// rawBlobs stores the contents as git objects; entries of deletions stay "".
func (k *committer) rawBlobs(ctx context.Context, changes []judge.Change, content func(judge.Change) (io.ReadCloser, error)) ([]string, error) {
	if err := os.MkdirAll(k.stage, 0o700); err != nil {
		return nil, err
	}
	var names bytes.Buffer
	var at []int
	for i, ch := range changes {
		if ch.Kind == judge.Deleted {
			continue
		}
		name := fmt.Sprintf("%s/%d", k.stage, i)
		if err := copyTo(name, ch, content); err != nil {
			return nil, err
		}
		names.WriteString(name + "\n")
		at = append(at, i)
	}
	oids := make([]string, len(changes))
	if len(at) == 0 {
		return oids, nil
	}
	out, err := k.write(ctx, nil, &names, "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(at) {
		return nil, fmt.Errorf("git hash-object gave %d names for %d files", len(lines), len(at))
	}
	for j, i := range at {
		if oids[i], err = objectName(k.env.Git, []byte(lines[j]+"\n")); err != nil {
			return nil, err
		}
	}
	return oids, nil
}

func copyTo(name string, ch judge.Change, content func(judge.Change) (io.ReadCloser, error)) error {
	src, err := content(ch)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	return err
}

func hexLen(objectFormat string) int {
	if objectFormat == "sha256" {
		return 64
	}
	return 40
}
