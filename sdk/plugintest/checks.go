package plugintest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/paxiom/relay/sdk/pluginpb"
)

func checkInfoAlone(s *Session) error {
	info := s.getInfo()
	var bad *handshakeError
	if errors.As(info.err, &bad) && bad.line != "" {
		return Skip("the plugin cannot be reached: see P1")
	}
	if info.err != nil {
		return info.err
	}
	if info.first.GetName() == "" || info.first.GetVersion() == "" || len(info.first.GetKinds()) == 0 {
		return fmt.Errorf("name, version or kinds are missing: %v", info.first)
	}
	// What is late in each of three processes is the plugin's doing, and what is late in one may be the machine's.
	for n := 0; n < 2 && over("GetInfo", info.took, ruleLimits.info, ruleLimits.slack) != nil; n++ {
		s.info = nil
		if info = s.getInfo(); info.err != nil {
			return info.err
		}
	}
	return over("GetInfo", info.took, ruleLimits.info, ruleLimits.slack)
}

func checkInfoStable(s *Session) error {
	info := s.getInfo()
	if info.err != nil {
		return Skip("GetInfo does not answer: see B1 and P1")
	}
	if err := sameInfo("asked twice", info.second, info.first); err != nil {
		return err
	}
	p, err := s.start(s.cfg.Env, false)
	if err != nil {
		return err
	}
	defer p.stop()
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
	defer cancel()
	other, err := p.base.GetInfo(ctx, &pluginpb.GetInfoRequest{})
	if err != nil {
		return err
	}
	if err := sameInfo("asked in another process and environment", other, info.first); err != nil {
		return err
	}
	compare := func(what string, raw []byte) error {
		var got pluginpb.GetInfoResponse
		if err := protojson.Unmarshal(raw, &got); err != nil {
			return fmt.Errorf("%s cannot be read: %w", what, err)
		}
		return sameInfo(what, &got, info.first)
	}
	if s.cfg.Locked != nil {
		if err := compare("the lock file", s.cfg.Locked); err != nil {
			return err
		}
	}
	if s.cfg.Binary == "" {
		return nil
	}
	binary, err := filepath.Abs(s.cfg.Binary)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary, "--info")
	cmd.Env, cmd.Dir, cmd.WaitDelay = append(bareEnv(p.dirs), s.cfg.Env...), p.dirs.cwd, time.Second
	raw, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("--info: %w", err)
	}
	return compare("--info", raw)
}

func checkConfigureOnce(s *Session) error {
	if s.getInfo().err != nil {
		return Skip("GetInfo does not answer: see B1 and P1")
	}
	c := Case{Name: "Configure"}
	if len(s.cfg.Cases) > 0 {
		c.PluginConfig, c.Env = s.cfg.Cases[0].PluginConfig, s.cfg.Cases[0].Env
	}
	p, err := s.configured(c, how{})
	if err != nil {
		return err
	}
	defer p.stop()
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
	defer cancel()
	r, err := p.base.Configure(ctx, &pluginpb.ConfigureRequest{ConfigJson: s.cfg.PluginConfig, StateDir: p.dirs.state, WorkDir: p.dirs.work})
	if err != nil {
		return fmt.Errorf("the second Configure ended with the status %w", err)
	}
	if got := r.GetFailure(); got.GetReason() != pluginpb.Failure_REASON_BAD_CONFIG {
		return fmt.Errorf("the second Configure gave %v", got)
	}
	s.failures = append(s.failures, namedFailure{"the second Configure", r.GetFailure(), time.Now()})
	return nil
}

func checkGrease(s *Session) error {
	info := s.getInfo()
	if info.err != nil {
		return Skip("GetInfo does not answer: see B1 and P1")
	}
	if proto.Equal(info.first, info.second) { // otherwise see B2
		if err := sameInfo("GetInfo with unknown fields", info.greased, info.first); err != nil {
			return err
		}
	}
	if len(s.cfg.Cases) == 0 {
		p, err := s.configured(Case{Name: "Configure"}, how{grease: true, env: greaseEnv()})
		if err != nil {
			return err
		}
		p.stop()
		return s.checkUnknownCall()
	}
	e, err := s.evidence()
	if err != nil {
		return err
	}
	if e.greaseErr != nil {
		return fmt.Errorf("a newer host can't use it: %w", e.greaseErr)
	}
	if err := s.checkUnknownCall(); err != nil {
		return err
	}
	if got, want := e.grease.outcome(), e.plain[0].outcome(); got != want {
		return fmt.Errorf("with unknown fields the case %q ends with %q, without with %q", s.cfg.Cases[0].Name, got, want)
	}
	return nil
}

// checkUnknownCall looks at how a call ended that no version of the protocol has.
func (s *Session) checkUnknownCall() error {
	if got := status.Code(s.unknown); got != codes.Unimplemented {
		return fmt.Errorf("a call that it does not know ended with %s, not with %s", got, codes.Unimplemented)
	}
	return nil
}

func drainRequest(grace time.Duration) *pluginpb.DrainRequest {
	return &pluginpb.DrainRequest{Grace: durationpb.New(grace)}
}

func checkOutputs(s *Session) error {
	if err := s.needsBinary(); err != nil {
		return err
	}
	var bad *handshakeError
	if errors.As(s.getInfo().err, &bad) && bad.line != "" {
		return bad
	}
	if _, err := s.evidence(); err != nil && len(s.cfg.Cases) > 0 {
		return err
	}
	for _, p := range s.instances {
		if out := p.out.String(); out != "" {
			return fmt.Errorf("on standard output after the handshake: %.200q", out)
		}
		if name := s.secretIn(p.err.String()); name != "" {
			return fmt.Errorf("the value of %s is on standard error", name)
		}
	}
	for _, c := range s.calls {
		for _, e := range c.events {
			raw, _ := proto.Marshal(e.msg)
			if name := s.secretIn(string(raw)); name != "" {
				return fmt.Errorf("the value of %s is in the event %s of %q", name, e.kind, c.name)
			}
		}
		if c.err != nil && s.secretIn(c.err.Error()) != "" {
			return fmt.Errorf("the value of %s is in the status of %q", s.secretIn(c.err.Error()), c.name)
		}
	}
	return nil
}

func (s *Session) secretIn(text string) string {
	for _, c := range s.canaries {
		if strings.Contains(text, c.value) {
			return c.name
		}
	}
	return ""
}

// checkEnvironment compares calls with and without variables that the plugin has no
// business with. Where two calls without them differ, their texts say nothing.
func checkEnvironment(s *Session) error {
	if err := s.needsBinary(); err != nil {
		return err
	}
	e, err := s.evidence()
	if err != nil {
		return err
	}
	for i, c := range s.cfg.Cases {
		plain, again, with := e.plain[i], e.again[i], e.canary[i]
		if with.outcome() != plain.outcome() && again.outcome() == plain.outcome() {
			return fmt.Errorf("with variables that it has not declared the case %q ends with %q, without with %q", c.Name, with.outcome(), plain.outcome())
		}
		if a, b := lastBytes(plain), lastBytes(again); bytes.Equal(a, b) && !bytes.Equal(a, lastBytes(with)) {
			return fmt.Errorf("with variables that it has not declared the case %q ends with %s, without with %s", c.Name, lastBytes(with), a)
		}
	}
	return nil
}

// lastBytes is the last event of a call in a form that can be compared.
func lastBytes(c *call) []byte {
	if len(c.events) == 0 {
		return nil
	}
	raw, _ := protojson.Marshal(c.events[len(c.events)-1].msg)
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	// The folders of an instance are new each time.
	return bytes.ReplaceAll(out.Bytes(), []byte(c.p.dirs.root), nil)
}

func checkExit(s *Session) error {
	if err := s.needsBinary(); err != nil {
		return err
	}
	if s.getInfo().err != nil {
		return Skip("GetInfo does not answer: see B1 and P1")
	}
	for _, way := range []string{"Drain", "standard input closes", "Shutdown"} {
		if err := s.exitsWhen(way); err != nil {
			return err
		}
	}
	e, err := s.evidence()
	if len(s.cfg.Cases) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return over("the exit after standard input closed during a call", e.closed, ruleLimits.close, ruleLimits.slack)
}

// exitsWhen ends an idle plugin and looks at what is left of it.
func (s *Session) exitsWhen(way string) error {
	p, err := s.start(s.cfg.Env, false)
	if err != nil {
		return err
	}
	defer p.stop()
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
	defer cancel()
	if _, err := p.base.GetInfo(ctx, &pluginpb.GetInfoRequest{}); err != nil {
		return err
	}
	limit := ruleLimits.close
	start := time.Now()
	switch way {
	case "Drain":
		limit = ruleLimits.grace
		_, err = p.base.Drain(ctx, drainRequest(limit))
	case "Shutdown":
		err = p.conn.Invoke(ctx, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
		if status.Code(err) == codes.Unavailable { // it was quicker than its answer
			err = nil
		}
	default:
		err = p.stdin.Close()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", way, err)
	}
	p.waitExit(limit + ruleLimits.slack + time.Second - time.Since(start))
	if err := over("the exit when "+way, time.Since(start), limit, ruleLimits.slack); err != nil {
		return err
	}
	if left := p.children(); len(left) > 0 {
		return fmt.Errorf("when %s these processes were left: %s", way, strings.Join(left, "; "))
	}
	return nil
}

// checkWrites looks at what is new in the folders of every instance.
func checkWrites(s *Session) error {
	if err := s.needsBinary(); err != nil {
		return err
	}
	if _, err := s.evidence(); err != nil && len(s.cfg.Cases) > 0 {
		return err
	}
	for _, p := range s.instances {
		allowed := []string{p.dirs.state, p.dirs.work, p.dirs.sockets}
		if p.isBuilder(s) {
			allowed = append(allowed, p.dirs.workspace)
		}
		err := filepath.WalkDir(p.dirs.root, func(at string, d fs.DirEntry, err error) error {
			for _, dir := range allowed {
				if at == dir {
					return fs.SkipDir
				}
			}
			if err != nil || at == p.dirs.root || at == p.dirs.home || at == p.dirs.cwd || at == p.dirs.workspace {
				return nil
			}
			if rel, err := filepath.Rel(p.dirs.home, at); err == nil && s.homeFile(rel) {
				return nil
			}
			return fmt.Errorf("it wrote %s", strings.TrimPrefix(at, p.dirs.root))
		})
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (p *instance) isBuilder(s *Session) bool {
	return slices.Contains(s.getInfo().first.GetKinds(), pluginpb.GetInfoResponse_KIND_BUILDER)
}

// homeFile reports whether a path below HOME, or a folder above one, is allowed.
func (s *Session) homeFile(rel string) bool {
	for _, pattern := range s.cfg.HomeFiles {
		for sub := pattern; sub != "."; sub = path.Dir(sub) {
			if ok, _ := path.Match(sub, rel); ok {
				return true
			}
		}
	}
	return false
}
