//go:build linux || darwin

package box

import (
	"context"
	"runtime"
	"sync"

	"github.com/paxiom/relay/judge"
)

// What is read ahead: small files, and no more than a change within its limits has.
const (
	aheadFile  = 64 << 10
	aheadAll   = 4 << 20
	aheadFiles = 2000
)

// ahead does beside the walk what need not wait for its end: git starts, to be asked
// what it ignores, and files are read whose lines will be counted.
type ahead struct {
	ctx         context.Context
	git         *judge.Git
	r           *reader
	files, room int64 // how many more files, and bytes of them, are read

	begin   sync.Once
	want    chan wanted
	walked  chan struct{} // closed when changes are all that there are
	changes []judge.Change
	work    sync.WaitGroup

	mu   sync.Mutex
	read map[string]contents
}

// wanted is a change whose contents are to be read; now is what was read already.
type wanted struct {
	change judge.Change
	now    []byte
}

func newAhead(ctx context.Context, r *reader, git *judge.Git) *ahead {
	return &ahead{ctx: ctx, git: git, r: r, files: aheadFiles, room: aheadAll,
		want: make(chan wanted, aheadFiles), walked: make(chan struct{}), read: map[string]contents{}}
}

// fits says that files of these sizes are still read ahead.
func (a *ahead) fits(now, old int64) bool {
	return a != nil && a.files > 0 && max(now, old) <= aheadFile && now+old <= a.room
}

// add tells of a change; it is called by the walk alone, and does not wait.
func (a *ahead) add(c judge.Change, now []byte) {
	a.begin.Do(func() {
		a.work.Go(a.markIgnored)
		for range min(4, runtime.GOMAXPROCS(0)) - 1 {
			a.work.Go(a.readWanted)
		}
	})
	if counted(&c) && a.fits(c.Size, c.Base.Size) {
		a.files, a.room = a.files-1, a.room-c.Size-c.Base.Size
		a.want <- wanted{c, now} // there is room for as many as are read
	}
}

// finish is told all changes that there are, marks those that git ignores, and gives
// what was read of them, by path.
func (a *ahead) finish(changes []judge.Change) map[string]contents {
	a.changes = changes
	close(a.walked)
	close(a.want)
	a.readWanted()
	a.work.Wait()
	return a.read
}

func (a *ahead) readWanted() {
	for w := range a.want {
		if a.ctx.Err() != nil {
			return
		}
		side := a.r.read(&w.change, w.now)
		a.mu.Lock()
		a.read[w.change.Path] = side
		a.mu.Unlock()
	}
}

// askAtOnce is how many paths git is asked about in one go: enough for the call to be
// worth it, and no more than both sides can hold.
const askAtOnce = 10_000

// markIgnored asks git which changes it ignores. When git can't answer, nothing is
// ignored: that can only make the verdict stricter.
func (a *ahead) markIgnored() {
	if a.git == nil {
		return
	}
	for done := 0; ; done += askAtOnce {
		var part []judge.Change
		ignored, err := a.git.CheckIgnoreLater(a.ctx, func() []string {
			<-a.walked
			part = a.changes[min(done, len(a.changes)):min(done+askAtOnce, len(a.changes))]
			return askable(part)
		})
		if err != nil {
			return
		}
		for i := range part {
			part[i].Ignored = ignored[part[i].Path] && part[i].Kind != judge.Special
		}
		if done+askAtOnce >= len(a.changes) {
			return
		}
	}
}

// askable are the paths of changes that git could ignore.
func askable(changes []judge.Change) []string {
	var paths []string
	for _, c := range changes {
		if c.Kind != judge.Special {
			paths = append(paths, c.Path)
		}
	}
	return paths
}
