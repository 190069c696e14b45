package pluginenv

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/confine"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/box"
)

// Build runs a compiler on a stranger's source, in a box without network in which it can
// write the folders of work and nothing else. It works in the first of them.
func (e Env) Build(ctx context.Context, argv, env, work []string) error {
	if err := os.MkdirAll(e.StateDir, 0o700); err != nil {
		return diag.Wrap(err, judge.BlockedBox, "relay's state folder can't be created", "`ls -ld "+e.StateDir+"`")
	}
	empty, err := os.MkdirTemp("", "relay-work-")
	if err != nil {
		return diag.Internal(err)
	}
	defer os.RemoveAll(empty)
	spec := box.Spec{Means: box.Overlay, Root: empty, Home: e.Home, StateDir: e.StateDir, ReadOnlyRoot: true, Hide: Hide(e.Config, e.Home)}
	for _, dir := range work {
		spec.Binds = append(spec.Binds, box.Bind{Path: dir, Writable: true})
	}
	b, err := box.New(spec)
	if err != nil {
		return BoxFault(err)
	}
	c := e.Config.Box
	c.Network.Provider = "none"
	plan, err := confine.For(c, confine.Provider, nil, nil)
	if err != nil {
		return err
	}
	log, err := os.CreateTemp("", "relay-build-")
	if err != nil {
		return diag.Internal(err)
	}
	defer log.Close()
	defer os.Remove(log.Name())
	run, err := plan.Start(b, box.Proc{Argv: argv, Env: env, Dir: work[0], Stdout: log, Stderr: log})
	if err != nil {
		return BoxFault(err)
	}
	stop := context.AfterFunc(ctx, run.Kill)
	defer stop()
	state, err := run.Wait()
	switch over := plan.Exceeded("the compiler"); {
	case ctx.Err() != nil:
		return ctx.Err()
	case over != nil:
		return over
	case err == nil && state.OK():
		return nil
	}
	return errors.New("it can't be built: " + lastWords(log.Name()))
}

// lastWords is the end of a log, as one line.
func lastWords(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	end, _ := f.Seek(0, io.SeekEnd)
	b := make([]byte, min(end, 600))
	n, _ := f.ReadAt(b, end-int64(len(b)))
	return strings.Join(strings.Fields(string(b[:n])), " ")
}
