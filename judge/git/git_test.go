package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repo makes a repository with one commit; each step is a shell command run in it.
func repo(t *testing.T, steps ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(dir, "repo")
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatal(err)
	}
	first := "git init -q -b main && echo one > a.txt && printf '*.log\\n' > .gitignore && git add -A && git commit -qm base"
	if len(steps) > 0 && strings.HasPrefix(steps[0], "!") { // "!": instead of the usual start
		first, steps = steps[0][1:], steps[1:]
	}
	shell(t, top, first)
	for _, step := range steps {
		shell(t, top, step)
	}
	return top
}

func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func open(t *testing.T, dir string) *Repo {
	t.Helper()
	g, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func paths(t *testing.T, g *Repo) []string {
	t.Helper()
	entries, err := g.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, string([]byte{e.Index, e.Work})+" "+e.Path)
	}
	return out
}

func kindOf(err error) ErrorKind {
	if fail, ok := errors.AsType[*Error](err); ok {
		return fail.Kind
	}
	return ""
}

func TestGitFindsItsWayInEveryCheckout(t *testing.T) {
	t.Parallel()
	top := repo(t, "mkdir -p deep/er && echo x > deep/er/x && git add -A && git commit -qm deep")
	side := top + "-side"
	shell(t, top, "git worktree add -q "+side+" -b side")
	super := repo(t, "git -c protocol.file.allow=always submodule add -q "+top+" vendor/sub && git commit -qm sub")
	shallow := top + "-shallow"
	shell(t, top, "git clone -q --depth 1 file://"+top+" "+shallow)
	sparse := top + "-sparse"
	shell(t, top, "git clone -q . "+sparse+" && cd "+sparse+" && git sparse-checkout set --no-cone /a.txt")
	sha256 := repo(t, "!git init -q -b main --object-format=sha256 && echo 1 > a && git add -A && git commit -qm one")

	for name, c := range map[string]struct {
		dir, root, gitDir, commonDir, branch string
		outside                              []string
	}{
		"root":      {top, top, top + "/.git", top + "/.git", "main", nil},
		"subfolder": {top + "/deep/er", top, top + "/.git", top + "/.git", "main", nil},
		"worktree":  {side, side, top + "/.git/worktrees/" + filepath.Base(side), top + "/.git", "side", []string{top + "/.git"}},
		"submodule": {super + "/vendor/sub", super + "/vendor/sub", super + "/.git/modules/vendor/sub", super + "/.git/modules/vendor/sub", "main", []string{super + "/.git/modules/vendor/sub"}},
		"super":     {super, super, super + "/.git", super + "/.git", "main", nil},
		"shallow":   {shallow, shallow, shallow + "/.git", shallow + "/.git", "main", nil},
		"sparse":    {sparse, sparse, sparse + "/.git", sparse + "/.git", "main", nil},
		"sha256":    {sha256, sha256, sha256 + "/.git", sha256 + "/.git", "main", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := open(t, c.dir)
			if g.Root != c.root || g.GitDir != c.gitDir || g.CommonDir != c.commonDir {
				t.Errorf("got root %s, git dir %s, common dir %s", g.Root, g.GitDir, g.CommonDir)
			}
			if got := g.Outside(); !slices.Equal(got, c.outside) {
				t.Errorf("outside: got %q, want %q", got, c.outside)
			}
			commit, branch, err := g.Head(t.Context())
			if err != nil || branch != c.branch {
				t.Errorf("head: %q %q %v", commit, branch, err)
			}
			if want := map[bool]int{true: 64, false: 40}[name == "sha256"]; len(commit) != want {
				t.Errorf("commit %q is not %d digits", commit, want)
			}
			if got := paths(t, g); len(got) > 0 {
				t.Errorf("a clean checkout has status %q", got)
			}
		})
	}
}

func TestGitErrorsHaveTheirKind(t *testing.T) {
	t.Parallel()
	plain := t.TempDir()
	cases := map[string]struct {
		dir  string
		want ErrorKind
	}{
		"no repository": {plain, NotRepository},
		"no folder":     {plain + "/none", NotRepository},
		"bare":          {repo(t, "!git init -q --bare"), Bare},
		"in .git":       {repo(t) + "/.git", NotRepository},
		"no commits":    {repo(t, "!git init -q"), NoCommits},
		"bad config":    {repo(t, "echo '[core' >> .git/config"), BrokenConfig},
		"bad value":     {repo(t, "git config core.bare maybe"), BrokenConfig},
		"broken index":  {repo(t, "echo junk > .git/index"), Failed},
		"future format": {repo(t, "git config core.repositoryformatversion 99"), Failed},
		"empty HEAD":    {repo(t, ": > .git/HEAD"), NotRepository},
	}
	if os.Getuid() == 0 {
		foreign := repo(t)
		if err := os.Chown(foreign, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		cases["someone else's"] = struct {
			dir  string
			want ErrorKind
		}{foreign, DubiousOwner}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, err := Open(t.Context(), c.dir)
			if err == nil {
				_, _, err = g.Head(t.Context())
			}
			if err == nil {
				_, err = g.Status(t.Context())
			}
			if kindOf(err) != c.want {
				t.Errorf("got kind %q (%v), want %q", kindOf(err), err, c.want)
			}
		})
	}
}

func TestGitIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Open(t.Context(), "."); kindOf(err) != Missing {
		t.Errorf("got %v", err)
	}
}

// An answer without its end is none, though git said that all was well.
func TestGitCutOffIsAnError(t *testing.T) {
	dir := repo(t)
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\n[ -e " + bin + "/most ] || exec " + real + " \"$@\"\n" + real + " \"$@\" | head -c $(cat " + bin + "/most)\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	g := open(t, dir)
	for _, most := range []string{"9", "41", "45"} { // in the commit, after it, in the ref
		if err := os.WriteFile(filepath.Join(bin, "most"), []byte(most), 0o644); err != nil {
			t.Fatal(err)
		}
		if commit, branch, err := g.Head(t.Context()); kindOf(err) != Failed {
			t.Errorf("%s bytes: %q, %q, %v", most, commit, branch, err)
		}
		if out, err := g.Run(t.Context(), nil, "ls-tree", "-r", "HEAD"); most != "41" && kindOf(err) != Failed {
			t.Errorf("%s bytes: %q, %v", most, out, err)
		}
	}
}

func TestGitCancelIsAnError(t *testing.T) {
	t.Parallel()
	g := open(t, repo(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Status(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestGitStatusNames(t *testing.T) {
	t.Parallel()
	top := repo(t, `printf x > 'sp ace'; printf x > 'new
line'; printf x > ünï; printf x > '"q"'; mkdir d; printf x > d/.dot; git add 'sp ace'; rm a.txt; printf x > no.log`)
	want := []string{" D a.txt", "?? \"q\"", "?? d/.dot", "?? new\nline", "?? ünï", "A  sp ace"}
	got := paths(t, open(t, top))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// What the repository's own configuration names must not run, and the index must
// not be written, whatever git is asked.
func TestGitRunsAndWritesNothing(t *testing.T) {
	t.Parallel()
	top := repo(t, `cat > ../trap <<'E'
#!/bin/sh
echo ran >> "$(dirname "$0")/canary"
E
chmod 755 ../trap
for h in post-index-change reference-transaction pre-commit post-checkout; do cp ../trap .git/hooks/$h; sed -i 's|$(dirname "$0")|'"$PWD/.."'|' .git/hooks/$h; done
git config core.fsmonitor "$PWD/../trap"; git config core.pager "$PWD/../trap"; git config diff.external "$PWD/../trap"
git config extensions.partialClone origin; git config remote.origin.url ssh://nowhere.invalid/x; git config remote.origin.promisor true; git config core.sshCommand "$PWD/../trap"
rm -f ../canary; touch -d '2001-01-01' a.txt`)
	before, err := os.ReadFile(top + "/.git/index")
	if err != nil {
		t.Fatal(err)
	}
	g := open(t, top)
	paths(t, g)
	if _, err := g.CheckIgnore(t.Context(), []string{"x.log"}); err != nil {
		t.Error(err)
	}
	if _, err := g.Run(t.Context(), nil, "cat-file", "-p", strings.Repeat("1", 40)); err == nil {
		t.Error("a missing object was found")
	}
	if _, err := g.Write(t.Context(), nil, nil, "update-ref", "refs/relay/x", "HEAD"); err != nil {
		t.Error(err)
	}
	if after, _ := os.ReadFile(top + "/.git/index"); string(after) != string(before) {
		t.Error("the index was written")
	}
	if ran, err := os.ReadFile(top + "/../canary"); err == nil {
		t.Errorf("configured programs ran: %q", ran)
	}
}

// No filter runs for a status; what only one can tell is asked of Decide.
func TestGitStatusAsksForFilters(t *testing.T) {
	t.Parallel()
	top := repo(t, `git config filter.lfsish.clean 'sed s/^plain/pointer/'; git config filter.lfsish.smudge 'sed s/^pointer/plain/'
git config filter.lfsish.required true; printf '*.dat filter=lfsish\nother.dat filter=none\n' > .gitattributes; echo plain > big.dat; echo plain > run.dat; echo x > other.dat; git add -A; git commit -qm lfs
touch big.dat; chmod +x run.dat; echo y > other.dat`)
	g := open(t, top)
	if got := paths(t, g); !slices.Equal(got, []string{" M big.dat", " M other.dat", " M run.dat"}) {
		t.Errorf("nobody to ask: %q", got)
	}
	var asked []string
	g.Decide = func(_ context.Context, _ *Repo, paths []string) (map[string]bool, error) {
		asked = paths
		return map[string]bool{"big.dat": true}, nil
	}
	// A mode is no filter's, and a driver that is not configured filters nothing.
	if got := paths(t, g); !slices.Equal(got, []string{" M other.dat", " M run.dat"}) || !slices.Equal(asked, []string{"big.dat"}) {
		t.Errorf("got %q, was asked %q", got, asked)
	}
	g.Decide = func(context.Context, *Repo, []string) (map[string]bool, error) { return nil, errors.New("no box") }
	if _, err := g.Status(t.Context()); err == nil {
		t.Error("nobody could decide, and that was no error")
	}
}

// Who configures git by variables means the same as who does it in the home.
func TestGitKeepsSettingsOfTheEnvironment(t *testing.T) {
	top := repo(t, `printf '[core]\n\texcludesFile = %s\n' "$PWD/../ignore" > ../config; echo '*.mine' > ../ignore; touch a.mine b.own`)
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(top, "../config"))
	if got := paths(t, open(t, top)); !slices.Equal(got, []string{"?? b.own"}) {
		t.Errorf("with a file: %q", got)
	}
	t.Setenv("GIT_CONFIG_COUNT", "2")
	t.Setenv("GIT_CONFIG_KEY_0", "core.excludesFile")
	t.Setenv("GIT_CONFIG_VALUE_0", "/dev/null")
	t.Setenv("GIT_CONFIG_KEY_1", "status.showUntrackedFiles") // relay's own says all
	t.Setenv("GIT_CONFIG_VALUE_1", "no")
	if got := paths(t, open(t, top)); !slices.Equal(got, []string{"?? a.mine", "?? b.own"}) {
		t.Errorf("with single settings: %q", got)
	}
}

// Texts are UTF-8 on the way out and on the way in, whatever a repository's encodings are.
func TestGitSpeaksUTF8(t *testing.T) {
	t.Parallel()
	g := open(t, repo(t, `git commit -qm 'café' --allow-empty; git config i18n.logOutputEncoding UTF-16; git config i18n.commitEncoding UTF-16`))
	if out, err := g.Run(t.Context(), nil, "log", "-1", "--format=%H %s"); err != nil || !strings.HasSuffix(string(out), " café\n") {
		t.Errorf("got %q %v", out, err)
	}
	name, err := g.Write(t.Context(), nil, strings.NewReader("naïve"), "-c", "user.name=x", "-c", "user.email=x@localhost", "commit-tree", "HEAD^{tree}", "-F", "-")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := g.Run(t.Context(), nil, "cat-file", "commit", strings.TrimSpace(string(name))); err != nil || strings.Contains(string(out), "encoding") {
		t.Errorf("wrote %q %v", out, err)
	}
}

func TestGitIgnoresReplaceRefs(t *testing.T) {
	t.Parallel()
	top := repo(t, `e=$(echo evil | git hash-object -w --stdin); git replace $(git rev-parse HEAD:a.txt) $e`)
	out, err := open(t, top).Run(t.Context(), nil, "cat-file", "blob", "HEAD:a.txt")
	if err != nil || string(out) != "one\n" {
		t.Errorf("got %q %v", out, err)
	}
}

func TestGitCheckIgnore(t *testing.T) {
	t.Parallel()
	inner := repo(t, `echo '*.tmp' > .gitignore; git add -A; git commit -qm i`)
	top := repo(t, "git -c protocol.file.allow=always submodule add -q "+inner+" sub && git commit -qm sub",
		`echo x > kept.log; git add -f kept.log; git commit -qm kept; mkdir real; ln -s real link; git init -q stray; echo 'hid/' >> .gitignore; git init -q hid/repo; echo '/venv' >> .gitignore; ln -s real venv`)
	ask := map[string]bool{
		"x.log": true, "a.txt": false, "new.txt": false, "deep/down/x.log": true, ":(top)x.log": true, ":x": false, "-x.log": true,
		"new\nline.log": false, "\xff.log": true, // a line break: refused in any case
		"kept.log":      false, // tracked: not ignored
		"link/x.log":    false, // behind a link: git would refuse the whole question
		"venv/bin/x":    true,  // behind one that is ignored
		"sub/x.tmp":     true,  // the submodule's own rules
		"sub/x.log":     false,
		"stray/x.log":   false, // a repository of its own, without rules
		"hid/repo/file": true,  // in a folder that is ignored as a whole
	}
	var list []string
	for path := range ask {
		list = append(list, path)
	}
	got, err := open(t, top).CheckIgnore(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range ask {
		if got[path] != want {
			t.Errorf("%q: got %v, want %v", path, got[path], want)
		}
	}
	if sub, err := open(t, top).CheckIgnore(t.Context(), []string{"a.txt", "sub/x.tmp"}); err != nil || !sub["sub/x.tmp"] {
		t.Errorf("only in the submodule: %v %v", sub, err)
	}
	if none, err := open(t, top).CheckIgnore(t.Context(), nil); err != nil || len(none) > 0 {
		t.Errorf("nothing asked: %v %v", none, err)
	}
}

func TestGitWriteSeesItsIndex(t *testing.T) {
	t.Parallel()
	top := repo(t)
	g := open(t, top)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(t.TempDir(), "index")}
	if _, err := g.Write(t.Context(), env, strings.NewReader("100644 "+strings.Repeat("0", 39)+"1 0\tx\n"), "update-index", "--index-info"); err != nil {
		t.Fatal(err)
	}
	out, err := g.Write(t.Context(), env, nil, "ls-files", "-s")
	if err != nil || !strings.HasSuffix(string(out), "\tx\n") {
		t.Errorf("%q %v", out, err)
	}
	if got := paths(t, g); len(got) > 0 {
		t.Errorf("the user's index changed: %q", got)
	}
}
