package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/paxiom/relay/judge/program"
)

// wayKeys are the variables, by their section, that name programs and files by which git
// reaches a remote.
var wayKeys = map[string][]string{
	"core":       {"askpass", "gitproxy", "sshcommand"},
	"credential": {"helper"},
	"gpg":        {"defaultkeycommand", "program"},
	"http":       {"cookiefile", "proxysslcainfo", "proxysslcert", "proxysslkey", "sslcainfo", "sslcapath", "sslcert", "sslkey"},
	"push":       {"gpgsign"},
	"remote":     {"receivepack", "uploadpack", "vcs"},
}

// ways are the variables of the environment by which a user says how git reaches a remote.
var ways = []string{"GIT_SSH=", "GIT_SSH_COMMAND=", "GIT_SSH_VARIANT=", "GIT_ASKPASS=", "GIT_PROXY_COMMAND=", "GIT_SSL_"}

// Talk calls git for talking to a remote, in the user's own way: the protocols, the
// logins and the programs for them that the user configured hold. Still no hook runs,
// nobody is asked anything, and what is set up for a remote may not lead into the work tree.
// Git begins in /, so that what is named relative to a folder finds nothing there either.
func (g *Repo) Talk(ctx context.Context, command []string, remote string, refs ...string) ([]byte, error) {
	now := *g
	if err := now.readConfig(ctx); err != nil { // of now: hours may have gone by
		return nil, err
	}
	if err := now.talks(); err != nil {
		return nil, err
	}
	set, err := now.reach(ctx, remote)
	if err != nil {
		return nil, err
	}
	args := append(append(slices.Clone(command), "--", remote), refs...)
	return call{g: &now, dir: "/", write: true, talk: true, set: set}.run(ctx, nil, args...)
}

// talks refuses to reach a remote by a program or file that lies in the work tree.
func (g *Repo) talks() error {
	settings := slices.Clone(g.config.ways)
	for _, kv := range os.Environ() {
		name, value, _ := strings.Cut(kv, "=")
		if name == "SSH_ASKPASS" || slices.ContainsFunc(ways, func(w string) bool { return strings.HasPrefix(kv, w) }) {
			settings = append(settings, setting{name, value})
		}
	}
	for _, s := range settings {
		if err := g.outside(s); err != nil {
			return err
		}
	}
	return nil
}

// outside is an error when a setting names a file of the work tree, or one that depends on
// the folder in which git is.
func (g *Repo) outside(s setting) error {
	value := strings.TrimPrefix(s.value, "!")
	value = strings.NewReplacer("$GIT_DIR", g.GitDir, "${GIT_DIR}", g.GitDir).Replace(value)
	first, _, _ := strings.Cut(value, " ")
	why := ""
	switch {
	case program.Named([]string{"", value}, g.Root, g.trees()...) != "":
		why = " names a file in the work tree, where a change can rewrite it: "
	case program.Relative(value) || strings.Contains(first, "/") && !strings.ContainsAny(first[:1], "/~$\"'"):
		why = " names a file relative to the work tree, and a push begins in /: "
	default:
		return nil
	}
	return &Error{Kind: OwnProgram, Dir: g.Root, Setting: s.key, Stderr: s.key + why + s.value}
}

// reach refuses a remote that lies in the work tree: its hooks are programs. It gives the
// settings by which git, in /, finds one whose path is relative to the work tree.
func (g *Repo) reach(ctx context.Context, remote string) (set []setting, err error) {
	key := "remote." + remote + "."
	urls, own := g.config.remotes[key+"url"], g.config.remotes[key+"pushurl"]
	if len(urls) == 0 {
		urls = []string{remote}
	}
	to, err := g.lines(ctx, "ls-remote", "--get-url", "--", remote)
	if err != nil {
		return nil, err
	}
	if set, err = g.paths(set, key+"url", "insteadOf", urls[:1], to); err != nil {
		return nil, err
	}
	if len(g.config.remotes[key+"url"])+len(own) == 0 {
		return set, nil
	}
	if to, err = g.lines(ctx, "remote", "get-url", "--push", "--all", "--", remote); err != nil {
		return nil, err
	}
	if len(own) > 0 {
		return g.paths(set, key+"pushurl", "insteadOf", own, to)
	}
	return g.paths(set, key+"url", "pushInsteadOf", urls, to)
}

// paths is reach for addresses, as they are configured and as git understands them.
func (g *Repo) paths(set []setting, key, instead string, urls, to []string) ([]setting, error) {
	if len(urls) != len(to) {
		return nil, g.cutOff([]string{"remote"})
	}
	for i, url := range to {
		if helper, address, ok := strings.Cut(url, "::"); ok && !strings.ContainsAny(helper, "/.") {
			if err := g.outside(setting{key, address}); err != nil {
				return nil, err
			}
			continue
		}
		path, ok := strings.CutPrefix(url, "file://")
		if ok {
			path = filepath.Clean("/" + path)
		} else {
			host, _, colon := strings.Cut(url, ":")
			if colon && !strings.Contains(host, "/") { // another protocol, or HOST:PATH
				continue
			}
			path = url
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(g.Root, path)
			set = append(set, setting{"url." + path + "." + instead, urls[i]})
		}
		if len(g.inTree([]string{path})) > 0 {
			return nil, &Error{Kind: OwnProgram, Dir: g.Root, Setting: key, Stderr: key + " leads to a repository in the work tree, where a change can rewrite its hooks: " + url}
		}
	}
	return set, nil
}

func (g *Repo) lines(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.Run(ctx, nil, args...)
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
}

// away is an environment for a git that begins in /: files that git is configured by are
// named by their whole path.
func (g *Repo) away(env []string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "PWD=") || strings.HasPrefix(kv, "OLDPWD=") })
	for i, kv := range env {
		name, file, _ := strings.Cut(kv, "=")
		if (name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM") && file != "" && !filepath.IsAbs(file) {
			env[i] = name + "=" + filepath.Join(g.Root, file)
		}
	}
	return env
}

// alone gives a call a session of its own: without a terminal no program of it can ask
// anybody, and they all end together.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
