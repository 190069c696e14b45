package pluginenv

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/paxiom/relay/host/internal/buildcache"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/keys"
	"github.com/paxiom/relay/host/internal/secrets"
	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/git"
)

// Credentials are the places with credentials on this machine, with what the
// configuration adds and takes away.
func Credentials(cfg *config.Config, home string) []secrets.Place {
	where := secrets.Where{Home: home, Hide: slices.Clone(cfg.Box.Hide), Show: cfg.Box.Show}
	where.Hide = append(where.Hide, cfg.Verification.CheckDirs...)
	for _, h := range cfg.Verification.Hidden {
		where.Hide = append(where.Hide, h.Folder)
	}
	for _, raw := range cfg.Plugins {
		var block struct {
			Keys map[string]any `json:"keys"`
		}
		json.Unmarshal(raw, &block) // what is wrong with it is said elsewhere
		for _, v := range block.Keys {
			if ref, err := keys.Parse(v); err == nil && ref.Path() != "" {
				where.Keys = append(where.Keys, ref.Path())
			}
		}
	}
	return secrets.Find(where)
}

// Hide is what every box hides of them.
func Hide(cfg *config.Config, home string) (hide []box.Hidden) {
	for _, p := range Credentials(cfg, home) {
		hide = append(hide, box.Hidden{Path: p.Path, Instead: p.Instead})
	}
	return hide
}

// Secrets finds values of these credentials, and keys that plugins were given, in what would
// land; see change.Env. They are read when the first text is looked through, which is after
// the builder has had its keys.
func Secrets(cfg *config.Config, home string) func(r io.Reader, known func(form string) bool) (from string, line int, err error) {
	finder := sync.OnceValue(func() *secrets.Finder {
		return secrets.NewFinder(append(secrets.Values(Credentials(cfg, home)), secrets.Handed()...))
	})
	return func(r io.Reader, known func(form string) bool) (string, int, error) { return finder().Find(r, known) }
}

// secrets are those values: what a plugin says is kept, shown and asked of models without them.
func (e Env) secrets() (values []string) {
	for _, v := range append(secrets.Values(Credentials(e.Config, e.Home)), secrets.Handed()...) {
		values = append(values, v.Text)
	}
	return values
}

// inRepository reports whether the last commit holds a text: then it is no secret.
func (e Env) inRepository(text string) bool {
	git, err := git.Open(context.Background(), e.repo())
	if err != nil {
		return false
	}
	had, err := git.Holds(context.Background(), "HEAD", text)
	return err == nil && had
}

// Caches are what checks of a repository may reuse.
func Caches(cfg *config.Config, git *git.Repo, stateDir, home string) buildcache.Of {
	home = cmp.Or(home, os.Getenv("HOME"))
	of := buildcache.Of{Git: git, Dir: CachesIn(stateDir), Home: home}
	for _, folder := range cfg.Verification.Caches {
		of.Folders = append(of.Folders, moved(folder, home, git.Root))
	}
	return of
}

// movedBy are the variables by which tools have their caches elsewhere, the nearest first.
var movedBy = [][2]string{{".cache/go-build", "GOCACHE"}, {"go/pkg/mod", "GOMODCACHE"}, {"go", "GOPATH"}, {".cargo", "CARGO_HOME"}, {".gradle", "GRADLE_USER_HOME"},
	{".nuget/packages", "NUGET_PACKAGES"}, {".cache", "XDG_CACHE_HOME"}, {".local/share", "XDG_DATA_HOME"}}

// moved is a cache folder where the user's environment has it, if that is in the home and outside of the repository.
func moved(folder, home, repo string) string {
	for _, m := range movedBy {
		below, ok := strings.CutPrefix(folder+"/", m[0]+"/")
		at := os.Getenv(m[1])
		if !ok || at == "" {
			continue
		}
		in, err := filepath.Rel(repo, at)
		if rel, err2 := filepath.Rel(home, filepath.Join(at, below)); err == nil && err2 == nil && !filepath.IsLocal(in) && filepath.IsLocal(rel) && rel != "." {
			return rel
		}
		break
	}
	return folder
}

// CachesIn is where the caches of checks lie, of all repositories.
func CachesIn(stateDir string) string { return filepath.Join(stateDir, "caches") }

// logins are what the plugin's own box shows all the same: the login of its vendor, and
// of the agent that it drives.
func logins(cfg *config.Config, home string, e catalog.Entry, conf []byte) (binds []box.Bind) {
	names := append(driven(conf), e.Name)
	if e.Pin != nil {
		return nil // it has what it was granted
	}
	for _, p := range Credentials(cfg, home) {
		if slices.ContainsFunc(p.Agents, func(a string) bool { return slices.Contains(names, a) }) {
			binds = append(binds, box.Bind{Path: p.Path, Shown: true})
		}
	}
	return binds
}

// driven are the names of the programs that a plugin is told to start.
func driven(conf []byte) (names []string) {
	var block struct {
		Command string   `json:"command"`
		Agent   []string `json:"agent"`
	}
	json.Unmarshal(conf, &block)
	for _, program := range append(block.Agent[:min(1, len(block.Agent))], block.Command) {
		if program == "" {
			continue
		}
		names = append(names, strings.TrimSuffix(filepath.Base(program), ".js"))
		if real, err := os.Readlink(program); err == nil {
			names = append(names, filepath.Base(real))
		}
	}
	return names
}
