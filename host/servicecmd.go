package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/fault"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge"
)

// ServiceLine is one service in a list.
type ServiceLine struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	File    string `json:"file"`
	Trusted bool   `json:"trusted"`
	Cycle   string `json:"cycle,omitempty"` // in flight
	State   string `json:"state,omitempty"`
	Reviser string `json:"reviser,omitempty"` // of the next cycle
	Problem string `json:"problem,omitempty"`
}

// ServiceListResult lists the services of a repository.
type ServiceListResult struct {
	Doc
	Services []ServiceLine `json:"services"`
}

// ServiceResult is one service with its values.
type ServiceResult struct {
	Doc
	Service  ServiceLine   `json:"service"`
	Values   []ConfigValue `json:"values"`
	Warnings []string      `json:"warnings,omitempty"`
}

// ServiceCheck is what auditors of a service would read now.
type ServiceCheck struct {
	Doc
	OK     bool          `json:"ok"`
	Checks []CheckResult `json:"checks"`
}

// ServiceList reads all service files.
func (r *Repo) ServiceList(context.Context) (*ServiceListResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	ids, err := config.Services(o.root)
	if err != nil {
		return nil, err
	}
	res := &ServiceListResult{Doc: Doc{"relay.services", 1}, Services: []ServiceLine{}}
	for _, id := range ids {
		line, _ := r.serviceLine(o, id)
		res.Services = append(res.Services, line)
	}
	return res, nil
}

func (r *Repo) serviceLine(o *opened, id string) (ServiceLine, *config.LoadedService) {
	line := ServiceLine{ID: id}
	s, err := config.LoadService(r.serviceOptions(o.root), id, nil)
	if err != nil {
		f := fault.Internal(err)
		line.Problem = f.What + ": " + f.Why
		return line, nil
	}
	line.Name, line.File = s.Service.Service.Name, s.File
	digest, _ := trust.NeededByService(s)
	line.Trusted = digest == ""
	if digest != "" {
		line.Trusted, _ = r.trust().IsTrusted(trust.ServiceKey(o.root, id), digest)
	}
	env := &cycle.Env{Root: o.root, WS: o.ws}
	line.Reviser, _ = env.Reviser(s.Service)
	all, _ := cycle.List(o.ws)
	for _, c := range all {
		if c.ServiceID == id && !c.State.Ended() {
			line.Cycle, line.State = cycle.Short(c.UUID), string(c.State)
			break
		}
	}
	return line, s
}

// ServiceShow gives one service with the origin of each value.
func (r *Repo) ServiceShow(_ context.Context, id string) (*ServiceResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	s, err := config.LoadService(r.serviceOptions(o.root), id, nil)
	if err != nil {
		return nil, err
	}
	line, _ := r.serviceLine(o, id)
	return &ServiceResult{Doc: Doc{"relay.service", 1}, Service: line, Values: s.Values(), Warnings: s.Warnings}, nil
}

// ServiceCheck says for one service, or all, whether a cycle could begin, and what
// auditors would read with sizes.
func (r *Repo) ServiceCheck(ctx context.Context, id string) (*ServiceCheck, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	ids := []string{id}
	if id == "" {
		if ids, err = config.Services(o.root); err != nil {
			return nil, err
		}
	}
	res := &ServiceCheck{Doc: Doc{"relay.service.check", 1}, OK: true, Checks: []CheckResult{}}
	cat, err := r.catalog(o.root)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		s, err := config.LoadService(r.serviceOptions(o.root), id, nil)
		if err != nil {
			res.fail(id, err)
			continue
		}
		for _, w := range s.Warnings {
			res.Checks = append(res.Checks, CheckResult{ID: id, OK: true, What: "note: " + w})
		}
		for _, m := range cycleTeam(s.Service, cat) {
			if _, err := cat.Find(m.name, m.kind); err != nil {
				res.fail(id, err)
			}
		}
		if f := tooLow(o.loaded, s); f != nil {
			res.fail(id, f)
		}
		if err := r.trust().CheckService(o.root, s, r.getenv); err != nil {
			res.fail(id, err)
		}
		env := &cycle.Env{Root: o.root, WS: o.ws, Config: o.loaded.Config}
		in, err := cycle.Input(ctx, env, s.Service)
		if in != nil {
			res.sizes(id, in)
		}
		if err != nil {
			res.fail(id, err)
		}
	}
	return res, nil
}

func (c *ServiceCheck) fail(id string, err error) {
	c.OK = false
	c.Checks = append(c.Checks, *checkOf(id, fault.Internal(err)))
}

// maxSizes is how many of the largest files are listed.
const maxSizes = 8

func (c *ServiceCheck) sizes(id string, in *cycle.InputFacts) {
	ok := func(format string, args ...any) {
		c.Checks = append(c.Checks, CheckResult{ID: id, OK: true, What: fmt.Sprintf(format, args...)})
	}
	ok("%d files and %d references, %d KB together", in.Files, len(in.References), in.Bytes/1000)
	for _, ref := range in.References {
		ok("reference %s, %d bytes", ref.Path, ref.Bytes)
	}
	largest := slices.Clone(in.Largest)
	slices.SortFunc(largest, func(a, b cycle.Sized) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, f := range largest[:min(len(largest), maxSizes)] {
		ok("code %s, %d bytes", f.Path, f.Bytes)
	}
	for _, l := range in.LeftOut[:min(len(in.LeftOut), 2*maxSizes)] {
		ok("left out %s", l)
	}
	if n := len(in.LeftOut) - 2*maxSizes; n > 0 {
		ok("left out %d more", n)
	}
	for _, w := range in.Warnings {
		ok("note: %s", w)
	}
}

// ServiceNew writes a service file that works, with the choices that one makes as
// comments.
func (r *Repo) ServiceNew(_ context.Context, id string) (*ServiceResult, error) {
	o, err := r.open()
	if err != nil {
		return nil, err
	}
	if _, err := config.LoadService(r.serviceOptions(o.root), id, nil); err == nil {
		return nil, fault.New("", "there is a service "+id+" already", "relay overwrites none", "`relay audit service show "+id+"`")
	} else if f, ok := fault.As(err); ok && !strings.Contains(f.Fix, "relay audit service new") && !strings.Contains(f.Fix, "relay audit service show") {
		return nil, err
	}
	file := filepath.Join(config.ServicesDir, id+".yaml")
	path := filepath.Join(o.root, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fault.Wrap(err, judge.BlockedMissingConfig, "the folder of services can't be made", "`ls -ld "+fault.Word(filepath.Dir(path))+"`")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fault.New("", "there is a file "+file+" already", "relay overwrites none", "`relay audit service check "+id+"`")
	}
	if err == nil {
		_, err = fmt.Fprintf(f, serviceTemplate, id)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, fault.Wrap(err, judge.BlockedMissingConfig, file+" can't be written", "`ls -ld "+fault.Word(filepath.Dir(path))+"`")
	}
	line, s := r.serviceLine(o, id)
	if s == nil {
		return nil, fault.New(judge.BlockedMissingConfig, file+" was written and is refused", line.Problem, "`relay audit service check "+id+"`")
	}
	return &ServiceResult{Doc: Doc{"relay.service", 1}, Service: line, Values: s.Values(), Warnings: s.Warnings}, nil
}

const serviceTemplate = `# yaml-language-server: $schema=https://github.com/paxiom/relay/schemas/service.schema.json
# What each key does: docs/reference/service.md
service:
  id: %[1]s
  name: ""

# Files that auditors read beside the code, as HEAD has them.
references: []

# Which files are audited.
code: ["**"]
code_exclude: []

models:
  audit_a:
    provider: claude
  audit_b:
    provider: codex
  refinement:
    provider: gemini
    enabled: false
  revision:
    rotation: [claude, codex]   # alternates per cycle

cycle:
  max_iterations: 5
  # test_command: make test
`

// Rotate gives the turn to revise to the next one of a service's rotation.
func (r *Repo) Rotate(_ context.Context, id string) (*ServiceResult, error) {
	env, o, err := r.cycleEnv(nil)
	if err != nil {
		return nil, err
	}
	s, err := config.LoadService(r.serviceOptions(o.root), id, nil)
	if err != nil {
		return nil, err
	}
	if _, err := env.Rotate(s.Service); err != nil {
		return nil, err
	}
	line, _ := r.serviceLine(o, id)
	return &ServiceResult{Doc: Doc{"relay.service", 1}, Service: line, Values: s.Values(), Warnings: s.Warnings}, nil
}

// ServiceIDs are the services whose id begins with a prefix, for completion.
func (r *Repo) ServiceIDs(prefix string) []string {
	ids, _ := config.Services(r.Root())
	return slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, prefix) })
}
