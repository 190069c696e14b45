package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// agentScript is a builder that does what most agents do first, and once more, and
// writes down how long each took.
const agentScript = `t0=$(date +%s%N); git status --porcelain; t1=$(date +%s%N); git status --porcelain; t2=$(date +%s%N)
echo "$((t1-t0)) $((t2-t1))" > src/a.txt`

// agentRows measures git status as an agent in the box sees it.
func (s *sample) agentRows(label string) error {
	if err := os.WriteFile(filepath.Join(s.dir, "driver.sh"), []byte(driver(agentScript)), 0o755); err != nil {
		return err
	}
	if _, err := s.exec("git", "commit", "-qam", "an agent"); err != nil {
		return err
	}
	var first, second []time.Duration
	for range s.b.rounds {
		if _, err := s.tick(); err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(s.dir, "src", "a.txt"))
		if err != nil {
			return err
		}
		var a, b time.Duration
		if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &a, &b); err != nil {
			return err
		}
		first, second = append(first, a), append(second, b)
	}
	row("git status in the box, the first"+label, ms(middle(first)), "3 × git status")
	row("    the second", ms(middle(second)), "-")
	return nil
}
