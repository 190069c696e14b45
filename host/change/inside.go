package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/judge/box"
)

// insideTime is how long a git in the builder's box may take.
const insideTime = 60 * time.Second

// inside runs git in the builder's box: its .git is the builder's work and is never read
// by a git outside. At most limit bytes of what it prints are given. why is what the
// builder is to blame for.
func (c *Change) inside(ctx context.Context, limit int, args ...string) (out []byte, why string, err error) {
	return c.within(ctx, limit, "git "+verb(args), nil, append([]string{"git", "-c", "safe.directory=*", "-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false", "-c", "core.quotePath=true", "-c", "protocol.allow=never"}, args...))
}

// within runs a program in the builder's box, which sees binds besides; name is for why.
func (c *Change) within(ctx context.Context, limit int, name string, binds []box.Bind, argv []string) (out []byte, why string, err error) {
	pr, pw, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	defer pr.Close()
	env := []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"}
	at := slices.IndexFunc(c.env.Environ, func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	if at >= 0 {
		env = append(env, c.env.Environ[at])
	} else {
		env = append(env, "PATH=/usr/local/bin:/usr/bin:/bin")
	}
	alone, err := c.newBox(nil, binds) // the same layer, without what a builder is given besides
	if err != nil {
		return nil, "", errors.Join(err, pw.Close())
	}
	proc, err := alone.Start(box.Proc{Env: env, Stdout: pw, Argv: argv})
	pw.Close()
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, insideTime)
	defer cancel()
	stop := context.AfterFunc(ctx, proc.Kill)
	defer stop()
	out, rerr := io.ReadAll(io.LimitReader(pr, int64(limit)+1))
	if len(out) > limit {
		proc.Kill()
	}
	pr.Close()
	state, err := proc.Wait()
	switch {
	case len(out) > limit:
		return out[:limit], "they hold more than " + size(limit), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Sprintf("%s did not end within %v", name, insideTime), nil
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil:
		return nil, "", err
	case rerr != nil:
		return nil, "", rerr
	case !state.OK():
		return out, fmt.Sprintf("%s failed with exit code %d", name, state.Code), nil
	}
	return out, "", nil
}

// verb is the command among git's arguments.
func verb(args []string) string {
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Standing is how far a builder has come, in the words of the git in its box. They are
// for the builder that continues its work, and prove nothing.
type Standing struct {
	Log      string `json:"log"`       // its commits, newest first, one a line
	Status   string `json:"status"`    // what is not committed
	DiffStat string `json:"diff_stat"` // against the base
}

// maxStanding bounds each part of a Standing.
const maxStanding = 16 << 10

// Standing asks the git in the box how far the builder has come. No process may be
// running in the box. A part that git does not tell says so.
func (c *Change) Standing(ctx context.Context) (Standing, error) {
	var s Standing
	for _, q := range []struct {
		to   *string
		args []string
	}{
		{&s.Log, []string{"log", "--no-color", "--no-show-signature", "--format=%h %s", "-50", c.opts.Base + "..HEAD"}},
		{&s.Status, []string{"status", "--porcelain"}},
		{&s.DiffStat, []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--stat=100", c.opts.Base}},
	} {
		out, why, err := c.inside(ctx, maxStanding, q.args...)
		if err != nil {
			return s, err
		}
		if *q.to = strings.TrimRight(string(out), "\n"); why != "" {
			*q.to += "\n[" + why + "]"
		}
	}
	return s, nil
}
