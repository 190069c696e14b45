package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// talker is a repository with tools/x, which leaves a mark, and a remote beside it.
const talker = `mkdir tools certs; printf '#!/bin/sh\necho "$0" >> "%s/canary"; exit 1\n' "$(dirname "$PWD")" > tools/x; cp tools/x top; chmod 755 top tools/x; touch certs/ca.pem
git init -q --bare ../remote.git; git init -q --bare vendor/up.git; cp tools/x vendor/up.git/hooks/pre-receive
printf '#!/bin/sh\nsh tools/x\nsh ./top\nexit 1\n' > ../outside; chmod 755 ../outside; git remote add origin ssh://nowhere.invalid/x
`

func talked(t *testing.T, top string) error {
	t.Helper()
	t.Chdir(top)
	t.Setenv("HOME", top+"/../home")
	g := open(t, top)
	_, err := g.Talk(t.Context(), []string{"ls-remote"}, "origin", "HEAD")
	if err == nil {
		_, err = g.Talk(t.Context(), []string{"push", "--porcelain"}, "origin", "HEAD:refs/heads/main")
	}
	if b, e := os.ReadFile(top + "/../canary"); e == nil {
		t.Errorf("a program of the work tree ran: %s", b)
	}
	return err
}

// A push is the operator's own, and what is set up for it leads to no file of the work tree.
func TestTalkRefusesWhatLiesInTheWorkTree(t *testing.T) {
	for setup, want := range map[string]string{
		`git config core.sshCommand tools/x`:                                                                                         "core.sshcommand",
		`git config core.sshCommand ./tools/later`:                                                                                   "core.sshcommand",
		`git config core.sshCommand "cd tools && sh x"`:                                                                              "",
		`git config core.sshCommand "cd $PWD/tools && sh x"`:                                                                         "core.sshcommand",
		`git config core.sshCommand "cd $PWD/later; sh x"`:                                                                           "core.sshcommand",
		`mkdir -p ../home; ln -s "$PWD" ../home/w; git config core.sshCommand 'sh ~/w/tools/x'`:                                      "core.sshcommand",
		`git config core.sshCommand '$HOME/../repo/tools/x'`:                                                                         "core.sshcommand",
		`git config core.sshCommand '. ${GIT_DIR}/../tools/x; true'`:                                                                 "core.sshcommand",
		`git config core.sshCommand 'cd "$(git rev-parse --show-toplevel)" && sh tools/$(echo x)'`:                                   "",
		`git config core.sshCommand '$PWD/tools/$(echo x)'`:                                                                          "core.sshcommand",
		`git config core.sshCommand "$PWD/../outside"`:                                                                               "",
		`git config core.gitProxy "sh tools/x"`:                                                                                      "core.gitproxy",
		`git config core.askPass tools/x`:                                                                                            "core.askpass",
		`git config credential.helper '!./tools/x'`:                                                                                  "credential.helper",
		`git config credential.https://nowhere.invalid.helper "store --file=tools/x"`:                                                "credential.https://nowhere.invalid.helper",
		`git config push.gpgSign if-asked; git config gpg.program ./top`:                                                             "gpg.program",
		`git config http.sslCAInfo certs/ca.pem`:                                                                                     "http.sslcainfo",
		`git config http.https://nowhere.invalid.cookieFile "$PWD/cookies"`:                                                          "http.https://nowhere.invalid.cookiefile",
		`git config remote.origin.uploadpack "sh tools/x"; git config remote.origin.url ../remote.git`:                               "remote.origin.uploadpack",
		`git config remote.origin.receivepack "sh tools/x"; git config remote.origin.url ../remote.git`:                              "remote.origin.receivepack",
		`git config protocol.ext.allow always; git config remote.origin.url "ext::sh tools/x"`:                                       "remote.origin.url",
		`git config protocol.ext.allow always; git config remote.origin.url "ext::sh -c cd% tools;sh% x"`:                            "",
		`git config remote.origin.url vendor/up.git`:                                                                                 "remote.origin.url",
		`git config remote.origin.url "file://$PWD/vendor/up.git"`:                                                                   "remote.origin.url",
		`git config remote.origin.url ../remote.git; git config remote.origin.pushurl ./vendor/up.git`:                               "remote.origin.pushurl",
		`git config url.vendor/.insteadOf gh:; git config remote.origin.url gh:up.git`:                                               "remote.origin.url",
		`git config url.vendor/.pushInsteadOf ../; git config remote.origin.url ../remote.git; git init -q --bare vendor/remote.git`: "remote.origin.url",
	} {
		t.Run("", func(t *testing.T) {
			err := talked(t, repo(t, talker+setup))
			fail, ok := err.(*Error)
			if !ok || (fail.Kind == OwnProgram) != (want != "") || fail.Setting != want {
				t.Errorf("%s: %v, not by %q", setup, err, want)
			}
		})
	}
	for _, name := range []string{"GIT_SSH=./top", "GIT_SSH_COMMAND=sh tools/x", "GIT_SSL_CAINFO=certs/ca.pem", "SSH_ASKPASS=tools/x"} {
		t.Run(name, func(t *testing.T) {
			name, value, _ := strings.Cut(name, "=")
			t.Setenv(name, value)
			if fail, ok := talked(t, repo(t, talker)).(*Error); !ok || fail.Setting != name {
				t.Errorf("%v", fail)
			}
		})
	}
}

// What leads elsewhere works as it does in the work tree.
func TestTalkReachesARemote(t *testing.T) {
	for name, setup := range map[string]string{
		"beside":        `git config remote.origin.url ../remote.git`,
		"absolute":      `git config remote.origin.url "$(dirname "$PWD")/remote.git"`,
		"another name":  `git config url.../.insteadOf gh:; git config remote.origin.url gh:remote.git`,
		"for pushes":    `git config remote.origin.url ../remote.git; git config url.../re.pushInsteadOf ../re`,
		"by pushurl":    `git config remote.origin.url ../remote.git; git config remote.origin.pushurl ../remote.git`,
		"several":       `git config remote.origin.url ../remote.git; git init -q --bare ../two.git; git config --add remote.origin.url ../two.git`,
		"global by PWD": `git config --file ../config url.../.insteadOf up:; git config remote.origin.url up:remote.git; touch ../relative`,
		"programs":      `git config remote.origin.url ../remote.git; git config remote.origin.receivepack git-receive-pack; git config credential.helper "cache --timeout=300"; git config core.sshCommand "ssh -i ~/.ssh/key"`,
		"another tree":  `git config remote.origin.url ../remote.git; git worktree add -q ../side`,
	} {
		t.Run(name, func(t *testing.T) {
			top := repo(t, talker+setup)
			if _, err := os.Stat(top + "/../relative"); err == nil {
				t.Setenv("GIT_CONFIG_GLOBAL", "../config")
			}
			tree := top
			if _, err := os.Stat(top + "/../side"); err == nil {
				tree = filepath.Join(top, "../side")
			}
			if err := talked(t, tree); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(shell(t, top, `git -C ../remote.git rev-parse main; git rev-parse refs/remotes/origin/main`)); got != strings.Repeat(strings.TrimSpace(shell(t, top, "git rev-parse HEAD"))+"\n", 2)[:len(got)] || len(got) < 80 {
				t.Errorf("after the push: %s", got)
			}
		})
	}
}
