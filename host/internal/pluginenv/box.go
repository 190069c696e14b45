package pluginenv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/isolation"
)

// Persist resolves box.persist_dirs against the user's home.
func Persist(cfg *config.Config, home string) []string {
	var dirs []string
	for _, d := range cfg.Box.PersistDirs {
		switch {
		case d == "~" || len(d) > 1 && d[:2] == "~/":
			d = filepath.Join(home, d[1:])
		case !filepath.IsAbs(d):
			d = filepath.Join(home, d)
		}
		dirs = append(dirs, d)
	}
	return dirs
}

// Means chooses what contains the plugins and checks of a work tree.
func Means(ctx context.Context, cfg *config.Config, stateDir, root string) (string, error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return "", diag.Wrap(err, judge.BlockedBox, "relay's state folder can't be created", "`ls -ld "+stateDir+"`")
	}
	means, err := isolation.Choose(ctx, isolation.Wish{Means: cfg.Box.Means, Required: cfg.Box.Required, StateDir: stateDir, Root: root})
	if f, ok := diag.As(BoxFault(err)); ok {
		f.What = "no box is strong enough here for a builder"
		return "", f
	}
	return means, err
}

// Chooser is Means for callers that may need a box later, or never.
func Chooser(cfg *config.Config, stateDir string) func(ctx context.Context, root string) (string, error) {
	return func(ctx context.Context, root string) (string, error) { return Means(ctx, cfg, stateDir, root) }
}

// BesideWarning says before a build that its checks prove less with these means.
func BesideWarning(means string) string {
	return "the means " + means + " has checks run beside the repository's path: what passes them is judged, not verified; `relay doctor` says what overlay lacks here"
}

// boxVariable tells a plugin by which means the box around it is made. A tool with a
// sandbox of its own, which can't be made inside ours, may leave it off then.
const boxVariable = "RELAY_BOX"

// outputVariable tells a plugin how much a program that it drives may print, in bytes.
const outputVariable = "RELAY_OUTPUT_LIMIT"

// InBox starts a plugin as the direct child of a box, with what its plan gives it.
func InBox(b *box.Box, plan *confine.Plan) launch.Starter {
	return func(s launch.StartSpec) (launch.Process, error) {
		if plan.Brokered() && b.Means() != box.Overlay {
			return nil, unheld(filepath.Base(s.Path), b.Means())
		}
		env := withoutDaemons(append(s.Env[:len(s.Env):len(s.Env)], boxVariable+"="+b.Means()))
		if n := plan.Output(); n > 0 {
			env = append(env, outputVariable+"="+strconv.FormatInt(n, 10))
		}
		p, err := plan.Start(b, box.Proc{Exe: s.Exe, Argv: s.Argv, Env: env, Dir: s.Dir, Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr})
		if err != nil {
			return nil, BoxFault(err)
		}
		return boxed{p}, nil
	}
}

// withoutDaemons keeps git from tidying up after a commit and from starting what watches
// the files: what is due in the user's repository would be done in every box anew, for
// nothing, and what it leaves in .git looks like tampering. Nor does git sign: the key is in no
// box, so every commit of a builder would fail, and relay makes them again anyway.
func withoutDaemons(env []string) []string {
	for _, off := range [][2]string{{"maintenance.auto", "false"}, {"gc.auto", "0"}, {"core.fsmonitor", "false"}, {"commit.gpgSign", "false"}} {
		env = box.WithGitSetting(env, off[0], off[1])
	}
	return env
}

// boxed is a box's process as the launcher sees one.
type boxed struct{ *box.Process }

// Left is how many processes the child had left behind, after Wait.
func (b boxed) Left() int {
	st, _ := b.Process.Wait()
	return st.Left
}

// Flooded ends the box, since the plugin wrote more than it may.
func (b boxed) Flooded(limit int64) {
	b.Exceed(&box.Exceeded{Limit: box.LimitOutput, Got: limit, Max: limit})
}

// Wait gives the direct child's end as an error, nil for status 0.
func (b boxed) Wait() error {
	st, err := b.Process.Wait()
	switch {
	case err != nil:
		return err
	case st.Exceeded != nil:
		return fmt.Errorf("ended for %w", st.Exceeded)
	case st.OK():
		return nil
	case st.Signal != 0:
		return fmt.Errorf("signal: %s", st.Signal)
	case st.Killed:
		return fmt.Errorf("killed")
	}
	return fmt.Errorf("exit status %d", st.Code)
}

// BoxFault says in words why a box could not be used.
func BoxFault(err error) error {
	var b *box.Error
	if !errors.As(err, &b) {
		if err == nil {
			return nil
		}
		return diag.Internal(err)
	}
	f := &diag.Error{Code: judge.BlockedBox, What: "the box for plugins can't be made", Why: b.Error(), Fix: b.Fix, Err: err}
	if b.Why != "" {
		f.Why = b.Why
	}
	f.Fix = cmp.Or(f.Fix, "`relay doctor` says what stands in the way")
	return f
}
