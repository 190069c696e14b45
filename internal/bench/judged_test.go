package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// judged sets what containing and judging cost beside one warm git status of the same
// repository in the same round: a box with a process in it, its layer read and judged,
// and the layer thrown away. What the thrown away layer held is removed afterwards,
// while relay writes its report; that has a row of its own.
func (b *bench) judged(files int) error {
	s, err := b.newSample(fmt.Sprintf("judged-%d", files), files, "true")
	if err != nil {
		return err
	}
	defer os.RemoveAll(s.dir)
	return b.judgedIn(s, fmt.Sprintf("%d files", files))
}

// judgedIn does it in one repository.
func (b *bench) judgedIn(s *sample, name string) error {
	git, err := git.Open(context.Background(), s.dir)
	if err != nil {
		return err
	}
	if _, err := s.exec("git", "status", "--porcelain"); err != nil { // warm
		return err
	}
	for _, changed := range []int{0, 12, 500} {
		var all [3][]time.Duration // git status, judged, removed
		for range b.rounds {
			status, err := s.timed("git", "status", "--porcelain")
			if err != nil {
				return err
			}
			took, removing, err := s.judgeOnce(git, changed)
			if err != nil {
				return err
			}
			for i, d := range []time.Duration{status, took, removing} {
				all[i] = append(all[i], d)
			}
		}
		label := fmt.Sprintf(", %s, %d changed", name, changed)
		status, took := middle(all[0]), middle(all[1])
		row("box + judge + discard"+label, ms(took), "1 git status")
		row("    git status --porcelain in the same rounds", ms(status), fmt.Sprintf("x %.2f", float64(took)/float64(status)))
		row("    removing the layer", ms(middle(all[2])), "-")
	}
	return nil
}

// judgeOnce changes files in a box, which is not timed, and judges them.
func (s *sample) judgeOnce(git *git.Repo, changed int) (took, removing time.Duration, err error) {
	state := filepath.Join(s.home, ".local", "state", "relay")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return 0, 0, err
	}
	spec := box.Spec{Root: git.Root, Home: s.home, StateDir: state, Layer: filepath.Join(state, "boxes", "bench")}
	if err := os.MkdirAll(filepath.Dir(spec.Layer), 0o700); err != nil {
		return 0, 0, err
	}
	if changed > 0 {
		script := fmt.Sprintf("find . -name .git -prune -o -type f -print | head -n %d | while read f; do echo more >> $f; done", changed)
		if _, err := inBox(spec, script); err != nil {
			return 0, 0, err
		}
	}
	begin := time.Now()
	b, err := inBox(spec, "true")
	if err != nil {
		return 0, 0, err
	}
	t, err := b.Touched(context.Background(), git)
	if err != nil {
		return 0, 0, err
	}
	none := []string{}
	law, _ := judge.NewPolicy(judge.Ceiling{Allowed: [][]string{{"**"}}, Forbidden: none, RunnerOwned: none, Protected: none, Programs: none, Tests: none, Lockfiles: none, Scratch: none, MaxFiles: 500, MaxLines: 20000},
		judge.Request{Kind: judge.Execute, Allowed: []string{"**"}, MaxFiles: 500, MaxLines: 20000})
	v := judge.Judge(t, law)
	if v.Code != judge.Success || v.Radius.Files != changed {
		return 0, 0, fmt.Errorf("%s with %d files instead of %d", v.Code, v.Radius.Files, changed)
	}
	took, begin = time.Since(begin), time.Now()
	err = b.Discard()
	return took, time.Since(begin), err
}

// inBox runs a command in a box.
func inBox(spec box.Spec, script string) (*box.Box, error) {
	b, err := box.New(spec)
	if err != nil {
		return nil, err
	}
	p, err := b.Start(box.Proc{Argv: []string{"sh", "-c", script}, Env: os.Environ()})
	if err != nil {
		return nil, err
	}
	st, err := p.Wait()
	if err == nil && !st.OK() {
		err = fmt.Errorf("the command in the box ended with %+v", st)
	}
	return b, err
}
