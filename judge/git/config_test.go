package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostile names a program in every variable by which git starts one, and in each place
// that git reads settings from.
const hostile = `trap="$PWD/../trap"
printf '#!/bin/sh\necho "$0 $*" >> "%s/canary"; cat; exit 0\n' "$(dirname "$trap")" > "$trap"; chmod 755 "$trap"
mkdir hooks; for h in post-index-change reference-transaction pre-commit post-checkout post-commit pre-auto-gc; do cp "$trap" hooks/$h; cp "$trap" .git/hooks/$h; done
set_all() { # by "git config $*"
	for key in filter.x.clean filter.x.smudge filter.x.process "filter.a b.c.clean" "filter.a b.c.smudge" diff.x.command diff.x.textconv diff.external merge.x.driver \
		core.fsmonitor core.pager core.editor core.askPass core.sshCommand core.gitProxy core.alternateRefsCommand sequence.editor pager.status pager.log pager.config \
		credential.helper credential.https://x.invalid.helper gpg.program gpg.ssh.program gpg.x509.program gpg.ssh.defaultKeyCommand interactive.diffFilter \
		uploadpack.packObjectsHook trailer.see.command trailer.see.cmd gc.recentObjectsHook submodule.sub.update hook.x.command remote.origin.uploadpack remote.origin.vcs \
		alias.status alias.ls-files alias.rev-parse tar.x.command browser.x.cmd; do
		case $key in alias.*|submodule.*) git config "$@" "$key" "!$trap" ;; *) git config "$@" "$key" "$trap" ;; esac
	done
	git config "$@" core.hooksPath "$PWD/hooks"; git config "$@" filter.x.required true; git config "$@" "filter.a b.c.required" true
	git config "$@" commit.gpgSign true; git config "$@" log.showSignature true; git config "$@" hook.x.event post-index-change
	git config "$@" extensions.partialClone origin; git config "$@" remote.origin.url "ext::$trap"; git config "$@" remote.origin.promisor true
	git config "$@" protocol.allow always; git config "$@" protocol.ext.allow always
	git config "$@" trace2.eventTarget "$PWD/../traced"; git config "$@" trace2.normalTarget "$PWD/../traced"; git config "$@" trace2.perfTarget "$PWD/../traced"
}
printf '*.dat filter=x diff=x merge=x\n*.bin filter="a b.c"\n' > .gitattributes; printf '* filter="a b.c"\n' > .git/info/attributes
echo plain > one.dat; echo plain > two.bin; git -c core.hooksPath=/dev/null add -A; git -c core.hooksPath=/dev/null commit -qm files
`

func TestNothingThatIsConfiguredIsStarted(t *testing.T) {
	for name, place := range map[string]string{
		"repository": `set_all --local`,
		"user":       `set_all --file "$PWD/../home/.gitconfig"`,
		"include":    `set_all --file "$PWD/../more"; git config include.path "$PWD/../more"`,
		"worktree":   `git config extensions.worktreeConfig true; set_all --worktree`,
		"submodule": `git -c protocol.file.allow=always -c core.hooksPath=/dev/null submodule --quiet add "$PWD" sub; git -c core.hooksPath=/dev/null commit -qm sub
cd sub; git config user.name s; git config user.email s@localhost; trap=$trap; set_all --local; touch -d '2001-01-01' *; cd ..`,
	} {
		t.Run(name, func(t *testing.T) {
			top := repo(t, hostile+"mkdir -p ../home\n"+place+"\nrm -f ../canary ../traced; touch -d '2001-01-01' *; echo more >> one.dat")
			home := filepath.Join(top, "../home")
			t.Setenv("HOME", home)
			g := open(t, top)
			paths(t, g)
			if _, err := g.CheckIgnore(t.Context(), []string{"x.log"}); err != nil {
				t.Error(err)
			}
			if _, err := g.Run(t.Context(), nil, "cat-file", "-p", strings.Repeat("1", 40)); err == nil {
				t.Error("a missing object was found")
			}
			for _, args := range [][]string{
				{"update-index", "one.dat", "two.bin"},
				{"update-index", "--really-refresh"},
				{"read-tree", "HEAD"},
				{"checkout-index", "-f", "-a", "--prefix=" + home + "/out/"},
				{"hash-object", "-w", "one.dat"},
				{"diff-tree", "-r", "--raw", "HEAD"},
				{"log", "-1", "-p", "--no-ext-diff", "--no-textconv"},
				{"update-ref", "refs/relay/x", "HEAD"},
				{"worktree", "add", "-q", "--detach", home + "/tree", "HEAD"},
				{"-C", home + "/tree", "checkout", "-q", "-f", "HEAD"},
				{"worktree", "remove", "--force", home + "/tree"},
				{"-c", "user.name=x", "-c", "user.email=x@localhost", "commit-tree", "HEAD^{tree}", "-m", "x"},
			} {
				if _, err := g.Write(t.Context(), nil, nil, args...); err != nil && !strings.Contains(err.Error(), "update-index: needs update") && name != "submodule" {
					t.Errorf("%q: %v", args, err)
				}
			}
			for _, left := range []string{"canary", "traced"} {
				if ran, err := os.ReadFile(filepath.Join(top, "..", left)); err == nil {
					t.Errorf("%s: %s", left, ran)
				}
			}
		})
	}
}

func TestSettingsOfTheEnvironmentStartNothing(t *testing.T) {
	top := repo(t, hostile+"rm -f ../canary; touch -d '2001-01-01' *")
	for i, kv := range []string{"filter.x.clean", "core.fsmonitor", "filter.a b.c.process"} {
		t.Setenv("GIT_CONFIG_KEY_"+string(rune('0'+i)), kv)
		t.Setenv("GIT_CONFIG_VALUE_"+string(rune('0'+i)), top+"/../trap")
	}
	t.Setenv("GIT_CONFIG_COUNT", "3")
	t.Setenv("GIT_EXEC_PATH", top)
	t.Setenv("GIT_TRACE2", top+"/../canary")
	t.Setenv("GIT_EXTERNAL_DIFF", top+"/../trap")
	g := open(t, top)
	paths(t, g)
	if _, err := g.Write(t.Context(), nil, nil, "update-index", "one.dat", "two.bin"); err != nil {
		t.Error(err)
	}
	if ran, err := os.ReadFile(top + "/../canary"); err == nil {
		t.Errorf("ran: %s", ran)
	}
}

// A file of the work tree that steers git is known, whether it is there or not.
func TestConfigFilesInTheWorkTree(t *testing.T) {
	top := repo(t, `git config include.path ../.gitconfig; git config --add include.path "$PWD/tools/link"; git config includeIf.onbranch:x.path ../../outside
mkdir tools; printf '[core]\n\tabbrev = 9\n' > tools/real; ln -s real tools/link; printf '[include]\n\tpath = deep\n' >> tools/real`)
	t.Setenv("HOME", top)
	got := open(t, top).ConfigFiles()
	for _, want := range []string{".gitconfig", "tools/link", "tools/real", "tools/deep", ".config/git/config"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	if slices.Contains(got, ".git/config") || slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, "..") }) {
		t.Errorf("got %q", got)
	}
}

// A program of the repository is not what relay starts, whatever PATH says.
func TestGitIsNotTakenFromTheWorkTree(t *testing.T) {
	top := repo(t, `mkdir bin; printf '#!/bin/sh\necho ran >> "$PWD/../canary"\n' > bin/git; chmod 755 bin/git`)
	t.Setenv("PATH", top+"/bin:bin:"+os.Getenv("PATH"))
	t.Chdir(top)
	g := open(t, top)
	paths(t, g)
	if _, err := g.Write(t.Context(), nil, nil, "worktree", "add", "-q", top+"/../tree", "HEAD"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(top + "/../canary"); err == nil {
		t.Error("the repository's git ran")
	}
}
