package host

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// holdBack has garbage collected in time wherever a builder left very much to look at.
// The limit is of what Go manages, to which the program's own pages come; an ordinary run
// stays below it, and it is no hard one. GOMEMLIMIT sets another.
var holdBack = sync.OnceFunc(func() {
	if os.Getenv("GOMEMLIMIT") == "" {
		(&limit{most: 17 << 20}).set()
	}
})

// limit is one that gives way: where what lives leaves hardly any room below it, Go would
// do nothing but collect, thousands of times. So what collects again and again without a
// pause is given a little more.
type limit struct {
	most  int64 // bytes
	last  time.Time
	close int // collections that followed one another at once
}

const (
	atOnce     = 100 * time.Millisecond
	closeOnes  = 32
	littleMore = 256 << 10
)

func (l *limit) set() {
	debug.SetMemoryLimit(l.most)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { l.collected() })
}

// collected is called after each collection.
func (l *limit) collected() {
	l.yield(time.Now())
	l.set()
}

// yield makes the limit larger when that was one of many that followed at once.
func (l *limit) yield(now time.Time) {
	if now.Sub(l.last) < atOnce {
		l.close++
	}
	if l.last = now; l.close == closeOnes {
		l.most, l.close = l.most+littleMore, 0
	}
}
