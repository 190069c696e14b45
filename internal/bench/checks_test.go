package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// namedTests are 150 tests that take some milliseconds each.
const namedTests = `import unittest


class TestSum(unittest.TestCase):
    pass


def of(n):
    def test(self):
        self.assertEqual(sum(i % 7 for i in range(100000 + n)) > 0, True)
    return test


for n in range(150):
    setattr(TestSum, "test_%d" % n, of(n))
`

// checks measures what relay adds to a check: to an instant one beside a tick without any,
// and, with names, probes and the base's tests, to one of some seconds.
func (b *bench) checks() error {
	var samples []*sample
	for _, name := range []string{"unchecked", "checked"} {
		s, err := b.newSample(name, b.small, appendLine)
		if err != nil {
			return err
		}
		if name == "unchecked" {
			if err := s.commit("plan.json", strings.Replace(samplePlan, `["pass"]`, "[]", 1)); err != nil {
				return err
			}
		}
		samples = append(samples, s)
	}
	walls := make([][]time.Duration, 2)
	for round := range 2*b.rounds + 1 {
		for i, s := range samples { // in turn, so that both see the same machine
			t, err := s.tick()
			if err != nil {
				return err
			}
			if round > 0 { // warm
				walls[i] = append(walls[i], t.wall)
			}
		}
	}
	without, with := middle(walls[0]), middle(walls[1])
	row("relay run without a check", ms(without), "-")
	row("    with an instant one, more", ms(with-without), "50 ms")
	return b.namedCheck()
}

func (b *bench) namedCheck() error {
	if _, err := exec.LookPath("python3"); err != nil {
		row("a check with names and probes", "no python3", "1.2 ×")
		return nil
	}
	s, err := b.newSample("named", b.small, appendLine)
	if err != nil {
		return err
	}
	config := strings.ReplaceAll(strings.Replace(sampleConfig, `"true", "args": []`, `"python3", "args": ["-m", "unittest", "-q"]`, 1), "@DIR@", s.dir)
	if err := s.commit("relay.config.json", config); err != nil {
		return err
	}
	if err := s.commit("test_sum.py", namedTests); err != nil {
		return err
	}
	if _, err := s.exec(b.relay, "trust", "--yes", "--quiet"); err != nil {
		return err
	}
	var own, verified []time.Duration
	for round := range b.rounds + 1 {
		d, err := s.timed("python3", "-B", "-m", "unittest", "-q")
		if err != nil {
			return err
		}
		t, err := s.tick()
		if err != nil {
			return err
		}
		if round > 0 { // the base has been looked at
			own, verified = append(own, d), append(verified, t.states["VERIFY"])
		}
	}
	row("a check of 150 tests by itself", ms(middle(own)), "-")
	row("    verified, with names and probes", fmt.Sprintf("%.2f ×", float64(middle(verified))/float64(middle(own))), "1.2 ×")
	return nil
}

// commit writes a file and commits it.
func (s *sample) commit(name, text string) error {
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644); err != nil {
		return err
	}
	if _, err := s.exec("git", "add", name); err != nil {
		return err
	}
	_, err := s.exec("git", "commit", "-qm", name)
	return err
}
