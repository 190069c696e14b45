package host

import (
	"os"
	"runtime/debug"
	"sync"
)

// holdBack has garbage collected in time wherever a builder left very much to look at.
// The limit is of what Go manages, to which the program's own pages come; an ordinary run
// stays below it, and it is no hard one. GOMEMLIMIT sets another.
var holdBack = sync.OnceFunc(func() {
	const most = 17 << 20
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(most)
	}
})
