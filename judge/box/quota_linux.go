package box

import (
	"os"
	"path"
	"sync"
	"time"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// quota holds the layer to its limits on disk. An ordinary user has no quotas of the
// kernel's, so the host looks: at the free space, which costs nothing, many times a
// second; at the layer itself when that has shrunk, and now and then.
type quota struct {
	limits  Limits
	folders []string // what is counted; they may not exist yet
	free    int64    // when the box was started
	files   int64    // how many could be made then
	of      int      // the process that those of the box descend from

	mu     sync.Mutex // the last look may come while one is under way
	walked time.Time
	cost   time.Duration // of the last walk
	before int64         // free space at the last walk
	used   int64         // by the layer at the last walk
}

const (
	quotaEvery = 50 * time.Millisecond
	walkEvery  = time.Second
	// keepFree is what is left to others on a disk; a twentieth of a small one.
	keepFree = 1 << 30
	// maxWalk bounds a look at a layer; one with more files is judged too large anyway.
	maxWalk = 4 << 20
)

func newQuota(l Limits, folders []string) *quota {
	q := &quota{limits: l, folders: folders}
	if len(folders) == 0 || l.File == 0 && l.Disk == 0 {
		return nil
	}
	st := q.disk()
	q.free, q.files = int64(st.Bavail)*st.Bsize, int64(st.Ffree)
	q.before = q.free
	return q
}

// disk is the file system of the layer.
func (q *quota) disk() (st unix.Statfs_t) {
	for dir := q.folders[0]; unix.Statfs(dir, &st) != nil && dir != "/"; dir = path.Dir(dir) {
	}
	return st
}

// full says that others get less of the disk than must be left to them, in space or, where
// a file system has a fixed number of them, in files: a twentieth, and never more than half
// of what was free at the start.
func (q *quota) full(st *unix.Statfs_t) *Exceeded {
	free, keep := int64(st.Bavail)*st.Bsize, min(keepFree, int64(st.Blocks)*st.Bsize/20, q.free/2)
	if free < keep {
		return &Exceeded{Limit: LimitFreeDisk, Got: free, Max: keep}
	}
	files, keep := int64(st.Ffree), min(int64(st.Files)/20, q.files/2)
	if files < keep {
		return &Exceeded{Limit: LimitFreeFiles, Got: files, Max: keep}
	}
	return nil
}

// watch calls found, once, when a limit is exceeded, and returns then or when stop is
// closed.
func (q *quota) watch(stop <-chan struct{}, found func(*Exceeded)) {
	tick := time.NewTicker(quotaEvery)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		if e := q.look(false); e != nil {
			found(e)
			return
		}
	}
}

// look finds what is exceeded. The layer is walked when it may be: when the free
// space has shrunk by half of what the layer still may take, and each second.
func (q *quota) look(now bool) *Exceeded {
	q.mu.Lock()
	defer q.mu.Unlock()
	st := q.disk()
	if e := q.full(&st); e != nil && q.limits.Disk > 0 {
		return e
	}
	free := int64(st.Bavail) * st.Bsize
	shrunk := q.limits.Disk > 0 && q.before-free > (q.limits.Disk-q.used)/2
	if !now && !shrunk && time.Since(q.walked) < max(walkEvery, 20*q.cost) {
		return nil
	}
	begin := time.Now()
	w := layerWalk{most: q.limits.File, left: maxWalk}
	if q.limits.Disk > 0 && q.free-free > q.limits.Disk/2 { // else there can't be so much
		w.used = nameless(q.of, q.folders[0]) // first: what loses its name meanwhile must not count twice
	}
	for _, dir := range q.folders {
		if fd, err := tree.OpenFolder(unix.AT_FDCWD, dir); err == nil {
			w.folder(fd, "", 0)
		} else if err != unix.ENOENT {
			w.blind = true
		}
	}
	q.before, q.used, q.walked, q.cost = free, w.used, time.Now(), time.Since(begin)
	if w.blind { // a folder that can't be looked into: what is missing on the disk counts
		q.used = max(w.used, q.free-free)
	}
	switch {
	case w.large != "":
		return &Exceeded{Limit: LimitFile, Got: w.size, Max: q.limits.File, Path: w.large}
	case q.limits.Disk > 0 && q.used > q.limits.Disk:
		return &Exceeded{Limit: LimitDisk, Got: q.used, Max: q.limits.Disk}
	}
	return nil
}

// layerWalk adds up what lies in a layer, following no link. Names come and go
// meanwhile: what is not there any more takes no space.
type layerWalk struct {
	most  int64 // bytes of one file; 0 for any
	left  int   // names to look at
	used  int64
	large string // a file that is larger than most
	size  int64  // of that file
	blind bool
}

// folder adds an open folder, which it closes.
func (w *layerWalk) folder(fd int, rel string, depth int) {
	dir := os.NewFile(uintptr(fd), rel)
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(1 << 10)
		for _, name := range names {
			w.left--
			w.entry(fd, name, path.Join(rel, name), depth)
		}
		if err != nil || w.left < 0 {
			w.blind = w.blind || w.left < 0
			return
		}
	}
}

func (w *layerWalk) entry(dir int, name, rel string, depth int) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	w.used += st.Blocks * 512 / int64(max(st.Nlink, 1))
	switch {
	case tree.Is(&st, unix.S_IFDIR):
		if depth >= MaxDepth {
			w.blind = true
		} else if fd, err := tree.OpenFolder(dir, name); err == nil {
			w.folder(fd, rel, depth+1)
		} else if err != unix.ENOENT {
			w.blind = true
		}
	case tree.Is(&st, unix.S_IFREG) && w.most > 0 && st.Size > w.most && w.large == "":
		w.large, w.size = rel, st.Size
	}
}
