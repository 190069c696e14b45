package host

import (
	"testing"
	"time"
)

// Collections with pauses between them say nothing; those that follow one another at once
// make the limit larger, a little each time.
func TestMemoryLimitGivesWay(t *testing.T) {
	t.Parallel()
	const most = 17 << 20
	l, now := limit{most: most}, time.Unix(0, 0)
	for range 10 * closeOnes {
		now = now.Add(atOnce)
		l.yield(now)
	}
	if l.most != most {
		t.Errorf("the limit is %d after collections with pauses", l.most)
	}
	for range 3 * closeOnes {
		now = now.Add(atOnce / 10)
		l.yield(now)
	}
	if want := int64(most + 3*littleMore); l.most != want {
		t.Errorf("the limit is %d after many collections at once, not %d", l.most, want)
	}
}
