package launch

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/paxiom/relay/host/internal/store"
	"github.com/paxiom/relay/judge/box"
)

// MaxSocketDir is the longest Config.SocketDir, in bytes. The kernel takes 107 bytes
// as the path of a socket; below the folder come an id, go-plugin's folder and the
// socket's own name.
const MaxSocketDir = 107 - len("/0123456789ab/plugin-dir4294967295/plugin4294967295")

// staleAfter keeps the sweep away from a folder that is just being made.
const staleAfter = time.Minute

// DefaultSocketDir gives the folder below which sockets are made when nothing else
// is asked for: short, private to the user, the same from run to run. It makes the
// folder, and removes what killed runs have left in it.
func DefaultSocketDir() (string, error) {
	uid := os.Geteuid()
	candidates := []string{fmt.Sprintf("/tmp/relay-%d", uid)}
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		candidates = append(candidates, filepath.Join(run, "relay"))
	}
	var failed []error
	for _, dir := range candidates {
		if len(dir) > MaxSocketDir {
			continue
		}
		err := makePrivate(dir)
		if err == nil {
			sweepOnce(dir)
			return dir, nil
		}
		failed = append(failed, err)
	}
	if dir, err := otherDir(uid); err == nil {
		return dir, nil
	}
	return "", errors.Join(failed...)
}

// otherDir is a folder whose name nobody can know beforehand, for where somebody else
// has made those with the usual names; the one of an earlier run, when it is ours.
func otherDir(uid int) (string, error) {
	prefix := fmt.Sprintf("/tmp/relay-%d-", uid)
	made, _ := filepath.Glob(prefix + "*")
	for _, dir := range made {
		if st, err := os.Lstat(dir); err == nil && st.IsDir() && makePrivate(dir) == nil {
			sweepOnce(dir)
			return dir, nil
		}
	}
	return os.MkdirTemp(filepath.Dir(prefix), filepath.Base(prefix)+"*")
}

// NewSocketDir makes an empty private folder that can serve as Config.SocketDir of
// one box. remove takes it away again.
func NewSocketDir() (dir string, remove func(), err error) {
	base, err := DefaultSocketDir()
	if err != nil {
		return "", nil, err
	}
	p, err := newPrivate(base)
	if err != nil {
		return "", nil, err
	}
	return p.path, p.remove, nil
}

// makePrivate makes dir, or accepts it when it is a folder of ours that nobody else
// may enter. /tmp is open to all: a folder that someone else made there is refused.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	sys, _ := st.Sys().(*syscall.Stat_t)
	if !st.IsDir() || st.Mode().Perm()&0o077 != 0 || sys == nil || int(sys.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a private folder of this user (mode %v)", dir, st.Mode())
	}
	return nil
}

// private is the folder of one plugin process. The lock on it, which the kernel
// takes away with the host, tells a later run that it is in use.
type private struct {
	path string
	lock *os.File
}

// newPrivate makes a private folder with the given folders in it.
func newPrivate(base string, subs ...string) (*private, error) {
	if !filepath.IsAbs(base) || len(base) > MaxSocketDir {
		return nil, fmt.Errorf("%q can't hold sockets: the path must be absolute and at most %d bytes", base, MaxSocketDir)
	}
	var id [6]byte
	rand.Read(id[:])
	p := &private{path: filepath.Join(base, hex.EncodeToString(id[:]))}
	if err := os.Mkdir(p.path, 0o700); err != nil {
		return nil, err
	}
	for _, sub := range subs {
		if err := os.Mkdir(filepath.Join(p.path, sub), 0o700); err != nil {
			p.remove()
			return nil, err
		}
	}
	var err error
	if p.lock, err = store.Hold(p.path); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *private) unlock() {
	if p.lock != nil {
		p.lock.Close()
		p.lock = nil
	}
}

func (p *private) remove() {
	box.RemoveTree(p.path) // which a plugin could write: of any depth, with any modes
	p.unlock()
}

var swept sync.Map

// sweepOnce removes the folders in base whose host is gone, once per process.
func sweepOnce(base string) {
	if _, done := swept.LoadOrStore(base, true); done {
		return
	}
	store.Sweep(base, "", staleAfter, func(path string) { (&private{path: path}).remove() })
}
