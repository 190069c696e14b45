package cycles

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

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/cycle"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/health"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/host/internal/trust"
	"github.com/paxiom/relay/judge"
)

// ServiceLine is one service in a list.
type ServiceLine struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"` // for people
	File    string `json:"file"`
	Trusted bool   `json:"trusted"`           // its commands have the operator's yes
	Cycle   string `json:"cycle,omitempty"`   // in flight
	State   string `json:"state,omitempty"`   // of the cycle in flight
	Reviser string `json:"reviser,omitempty"` // of the next cycle
	Problem string `json:"problem,omitempty"` // why it can't be used
}

// ServiceListResult lists the services of a repository.
type ServiceListResult struct {
	host.Doc
	Services []ServiceLine `json:"services"`
}

// ServiceResult is one service with its values.
type ServiceResult struct {
	host.Doc
	Service  ServiceLine        `json:"service"`
	Values   []host.ConfigValue `json:"values"`
	Warnings []string           `json:"warnings,omitempty"`
}

// ServiceCheck is what auditors of a service would read now.
type ServiceCheck struct {
	host.Doc
	OK     bool           `json:"ok"`
	Checks []health.Check `json:"checks"`
}

// Services reads all service files.
func Services(_ context.Context, r *host.Repo) (*ServiceListResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	ids, err := config.Services(o.Root)
	if err != nil {
		return nil, err
	}
	res := &ServiceListResult{Doc: host.DocOf("relay.services", 1), Services: []ServiceLine{}}
	for _, id := range ids {
		line, _ := serviceLine(r, o, id)
		res.Services = append(res.Services, line)
	}
	return res, nil
}

func serviceLine(r *host.Repo, o *host.Opened, id string) (ServiceLine, *config.LoadedService) {
	line := ServiceLine{ID: id}
	s, err := config.LoadService(r.ServiceOptions(o.Root), id, nil)
	if err != nil {
		f := diag.Internal(err)
		line.Problem = f.What + ": " + f.Why
		return line, nil
	}
	line.Name, line.File = s.Service.Service.Name, s.File
	digest, _ := trust.NeededByService(s)
	line.Trusted = digest == ""
	if digest != "" {
		line.Trusted, _ = r.TrustStore().IsTrusted(trust.ServiceKey(o.Root, id), digest)
	}
	env := &cycle.Env{Root: o.Root, WS: o.WS}
	line.Reviser, _ = env.Reviser(s.Service)
	all, _ := cycle.List(o.WS)
	for _, c := range all {
		if c.ServiceID == id && !c.State.Ended() {
			line.Cycle, line.State = cycle.Short(c.UUID), string(c.State)
			break
		}
	}
	return line, s
}

// ShowService gives one service with the origin of each value.
func ShowService(_ context.Context, r *host.Repo, id string) (*ServiceResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	s, err := config.LoadService(r.ServiceOptions(o.Root), id, nil)
	if err != nil {
		return nil, err
	}
	line, _ := serviceLine(r, o, id)
	return &ServiceResult{Doc: host.DocOf("relay.service", 1), Service: line, Values: s.Values(), Warnings: s.Warnings}, nil
}

// CheckService says for one service, or all, whether a cycle could begin, and what
// auditors would read with sizes.
func CheckService(ctx context.Context, r *host.Repo, id string) (*ServiceCheck, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	ids := []string{id}
	if id == "" {
		if ids, err = config.Services(o.Root); err != nil {
			return nil, err
		}
	}
	res := &ServiceCheck{Doc: host.DocOf("relay.service.check", 1), OK: true, Checks: []health.Check{}}
	cat, err := r.Catalog(o.Root)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		s, err := config.LoadService(r.ServiceOptions(o.Root), id, nil)
		if err != nil {
			res.fail(id, err)
			continue
		}
		for _, w := range s.Warnings {
			res.Checks = append(res.Checks, health.Check{ID: id, OK: true, What: "note: " + w})
		}
		for _, m := range health.CycleTeam(s.Service, cat) {
			if _, err := cat.Find(m.Name, m.Kind); err != nil {
				res.fail(id, err)
			}
		}
		if f := tooLow(o.Loaded, s); f != nil {
			res.fail(id, f)
		}
		if err := r.TrustStore().CheckService(o.Root, s, r.Getenv); err != nil {
			res.fail(id, err)
		}
		env := &cycle.Env{Root: o.Root, WS: o.WS, Config: o.Loaded.Config}
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
	c.Checks = append(c.Checks, *health.Failed(id, diag.Internal(err)))
}

// maxSizes is how many of the largest files are listed.
const maxSizes = 8

func (c *ServiceCheck) sizes(id string, in *cycle.InputFacts) {
	ok := func(format string, args ...any) {
		c.Checks = append(c.Checks, health.Check{ID: id, OK: true, What: fmt.Sprintf(format, args...)})
	}
	ok("%s and %s, %d KB together", format.Count(in.Files, "file"), format.Count(len(in.References), "reference"), in.Bytes/1000)
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

// NewService writes a service file that works, with the choices that one makes as
// comments.
func NewService(_ context.Context, r *host.Repo, id string) (*ServiceResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	if _, err := config.LoadService(r.ServiceOptions(o.Root), id, nil); err == nil {
		return nil, diag.New("", "there is a service "+id+" already", "relay does not overwrite it", "`relay audit service show "+id+"`")
	} else if f, ok := diag.As(err); ok && !strings.Contains(f.Fix, "relay audit service new") && !strings.Contains(f.Fix, "relay audit service show") {
		return nil, err
	}
	file := filepath.Join(config.ServicesDir, id+".yaml")
	path := filepath.Join(o.Root, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the folder for services can't be created", "`ls -ld "+diag.Word(filepath.Dir(path))+"`")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, diag.New("", "there is a file "+file+" already", "relay does not overwrite it", "`relay audit service check "+id+"`")
	}
	if err == nil {
		_, err = fmt.Fprintf(f, serviceTemplate, id)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, file+" can't be written", "`ls -ld "+diag.Word(filepath.Dir(path))+"`")
	}
	line, s := serviceLine(r, o, id)
	if s == nil {
		return nil, diag.New(judge.BlockedMissingConfig, file+" was written and is refused", line.Problem, "`relay audit service check "+id+"`")
	}
	return &ServiceResult{Doc: host.DocOf("relay.service", 1), Service: line, Values: s.Values(), Warnings: s.Warnings}, nil
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
func Rotate(_ context.Context, r *host.Repo, id string) (*ServiceResult, error) {
	env, o, err := r.CycleEnv(nil)
	if err != nil {
		return nil, err
	}
	s, err := config.LoadService(r.ServiceOptions(o.Root), id, nil)
	if err != nil {
		return nil, err
	}
	if _, err := env.Rotate(s.Service); err != nil {
		return nil, err
	}
	line, _ := serviceLine(r, o, id)
	return &ServiceResult{Doc: host.DocOf("relay.service", 1), Service: line, Values: s.Values(), Warnings: s.Warnings}, nil
}

// ServiceIDs are the services whose id begins with a prefix, for completion.
func ServiceIDs(r *host.Repo, prefix string) []string {
	ids, _ := config.Services(r.Root())
	return slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, prefix) })
}
