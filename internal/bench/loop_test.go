package bench

import (
	"encoding/json"
	"fmt"
	"time"
)

// loop measures twenty ticks in one loop, whose provider keeps running between them,
// beside as many ticks one by one.
func (b *bench) loop() error {
	const ticks = 20
	s, err := b.newSample("loop", b.small, appendLine)
	if err != nil {
		return err
	}
	if _, err := s.tick(); err != nil { // warm
		return err
	}
	rounds := min(b.rounds, 3)
	wall, err := median(rounds, func() (time.Duration, error) { return s.ticks(ticks) })
	if err != nil {
		return err
	}
	row(fmt.Sprintf("%d ticks in a loop, %d files", ticks, b.small), ms(wall), "2000 ms")
	row("    one of them", ms(wall/ticks), "-")
	single, err := median(b.rounds, func() (time.Duration, error) {
		t, err := s.tick()
		return t.wall, err
	})
	row("    a tick by itself in the same repository", ms(single), "-")
	return err
}

// ticks makes so many in one loop.
func (s *sample) ticks(n int) (time.Duration, error) {
	start := time.Now()
	out, err := s.exec(s.b.relay, "loop", "--mode", "autonomous", "--max-ticks", fmt.Sprint(n), "--json")
	wall := time.Since(start)
	if err != nil {
		return 0, err
	}
	var doc struct {
		Reason string `json:"reason"`
		Ticks  []struct {
			Code string `json:"code"`
		} `json:"ticks"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return 0, err
	}
	if doc.Reason != "max_ticks" || len(doc.Ticks) != n {
		return 0, fmt.Errorf("a loop of %d ticks ended after %d: %s", n, len(doc.Ticks), doc.Reason)
	}
	return wall, nil
}
