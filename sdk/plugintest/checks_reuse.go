package plugintest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/paxiom/relay/sdk/mtls"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// again is how many calls of one process follow each other. Something that each leaves
// behind is more than the few things that a pool or a cache keeps.
const again, few = 8, 5

// look finds out which processes of a call are there although it has ended.
func (s *Session) look(c *call) {
	if s.made.left != nil {
		return // one is enough, and each look takes its time
	}
	left := c.p.children()
	for at := time.Now(); len(left) > 0 && time.Since(at) < ruleLimits.cancel+ruleLimits.slack; left = c.p.children() {
		time.Sleep(10 * time.Millisecond)
	}
	if len(left) > 0 {
		s.made.left = fmt.Errorf("in %q these processes were left: %s", c.name, strings.Join(left, "; "))
	}
}

// reuse makes several calls with one process, as a host does with a provider.
func (s *Session) reuse(e *callEvidence) error {
	c, ok := s.reusable()
	if !ok {
		return nil
	}
	p, err := s.configured(c, how{})
	if err != nil {
		return err
	}
	defer p.stop()
	one := func(name string) error {
		made, err := s.callOn(p, c, how{name: name})
		if err == nil {
			s.calls = append(s.calls, made)
			s.look(made)
		}
		return err
	}
	if err := one("first of several"); err != nil {
		return err
	}
	before := p.holds()
	for range again {
		if err := one("one of several"); err != nil {
			return err
		}
	}
	more := func() int { return p.holds().count - before.count }
	for at := time.Now(); more() > few && time.Since(at) < ruleLimits.cancel+ruleLimits.slack; {
		time.Sleep(10 * time.Millisecond)
	}
	if n := more(); n > few {
		e.left = errors.Join(e.left, fmt.Errorf("after %d calls of %q it holds %d %s more than before", again, c.Name, n, before.what))
	}
	e.reused = true
	if !s.getInfo().first.GetCapabilities().GetConcurrent() {
		return nil
	}
	return s.callAtOnce(p, c)
}

// reusable is the completion that several calls are made of: the quickest that succeeds,
// or else the quickest.
func (s *Session) reusable() (found Case, ok bool) {
	var best time.Duration
	for i, c := range s.cfg.Cases {
		if c.Complete == nil || s.made.plain[i].err != nil || ok && found.WantReason == 0 && c.WantReason != 0 {
			continue
		}
		took := s.made.plain[i].end.Sub(s.made.plain[i].start)
		if !ok || took < best || found.WantReason != 0 && c.WantReason == 0 {
			found, best, ok = c, took, true
		}
	}
	return found, ok
}

func (s *Session) callAtOnce(p *instance, c Case) error {
	made, errs := make([]*call, 4), make([]error, 4)
	var all sync.WaitGroup
	for i := range made {
		all.Add(1)
		go func() {
			defer all.Done()
			made[i], errs[i] = s.callOn(p, c, how{name: "several at a time"})
		}()
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.calls = append(s.calls, made...)
	return nil
}

// holding is what a plugin holds open: descriptors of its process, or the goroutines of
// this one.
type holding struct {
	what  string
	count int
}

func (p *instance) holds() holding {
	if p.cmd == nil {
		return holding{"goroutines", goroutines()}
	}
	fds, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "fd")) // none where there is no /proc
	return holding{"open files", len(fds)}
}

// goroutines counts those of this process, without the ones that net/http keeps for idle
// connections, at both ends: an author's test server is in this process, too.
func goroutines() (n int) {
	stacks := make([]byte, 1<<20)
	for stack := range bytes.SplitSeq(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
		if !bytes.Contains(stack, []byte("\ncreated by net/http.")) {
			n++
		}
	}
	return n
}

func checkReuse(s *Session) error {
	e, err := s.evidence()
	switch {
	case err != nil:
		return err
	case e.left != nil:
		return e.left
	case !e.reused && s.cfg.Binary == "":
		return Skip("no case is a completion; a builder's process makes one build")
	}
	return nil
}

// checkHostOnly looks at who is served: the host, as go-plugin's client needs it, and
// nobody else.
func checkHostOnly(s *Session) error {
	if err := s.needsBinary(); err != nil {
		return err
	}
	if s.getInfo().err != nil {
		return Skip("GetInfo does not answer: see B1 and P1")
	}
	p, err := s.start(s.cfg.Env, false)
	if err != nil {
		return err
	}
	defer p.stop()
	if p.plain {
		return errors.New("the handshake has no certificate although the host gave its own in " + mtls.Variable)
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
	defer cancel()
	health, err := grpc_health_v1.NewHealthClient(p.conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "plugin"})
	if err != nil || health.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		return fmt.Errorf("the health service says %v of \"plugin\" (%v), not SERVING", health.GetStatus(), err)
	}
	stranger, _, err := mtls.Host()
	if err != nil {
		return err
	}
	stranger.RootCAs = p.secure.RootCAs
	nobody := &tls.Config{RootCAs: p.secure.RootCAs, ServerName: p.secure.ServerName, MinVersion: p.secure.MinVersion}
	for who, as := range map[string]credentials.TransportCredentials{
		"somebody with another certificate": credentials.NewTLS(stranger),
		"somebody without a certificate":    credentials.NewTLS(nobody),
		"somebody without TLS":              insecure.NewCredentials(),
	} {
		if err := p.serves(ctx, as); err == nil {
			return fmt.Errorf("%s was served, too", who)
		} else if ctx.Err() != nil {
			return fmt.Errorf("%s was neither served nor refused", who)
		}
	}
	return nil
}

// serves asks the plugin over a connection of its own.
func (p *instance) serves(ctx context.Context, as credentials.TransportCredentials) error {
	conn, err := grpc.NewClient("passthrough:///plugin", grpc.WithContextDialer(p.dial), grpc.WithTransportCredentials(as))
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = pluginpb.NewBaseClient(conn).GetInfo(ctx, &pluginpb.GetInfoRequest{})
	return err
}
