package program

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func file(t *testing.T, path string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFindSkipsWhatABuilderCanWrite(t *testing.T) {
	dir := t.TempDir()
	tree, good := filepath.Join(dir, "tree"), filepath.Join(dir, "bin")
	file(t, tree+"/bin/tool")
	want := file(t, good+"/tool")
	os.Symlink(tree+"/bin", dir+"/link") // a folder elsewhere that leads into the tree
	os.MkdirAll(dir+"/farm", 0o755)
	os.Symlink(tree+"/bin/tool", dir+"/farm/tool")
	t.Chdir(tree)
	path := ".:bin::" + tree + "/bin:" + dir + "/link:" + dir + "/farm:" + good
	p, err := Find("tool", path, tree)
	if err != nil || p.Path != want {
		t.Fatalf("got %q, %v", p.Path, err)
	}
	if got := Clean(path, tree); got != dir+"/farm:"+good {
		t.Errorf("the path is %q", got)
	}
	if _, err := Find(tree+"/bin/tool", path, tree); !errors.Is(err, ErrInside) {
		t.Errorf("by its path: %v", err)
	}
	if _, err := Find("./bin/tool", path); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("by a relative path: %v", err)
	}
	begins := dir + "/wrapped"
	for line, inside := range map[string]bool{"#!" + tree + "/bin/tool": true, "#! /usr/bin/env " + tree + "/bin/tool": true, "#!/usr/bin/env -S sh " + tree + "/later": true, "#!/bin/sh -e": false} {
		if err := os.WriteFile(begins, []byte(line+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Find(begins, "", tree); errors.Is(err, ErrInside) != inside {
			t.Errorf("a script that begins with %s: %v", line, err)
		}
		if _, err := FindBoxed(begins, "", tree); err != nil {
			t.Errorf("in a box, a script that begins with %s: %v", line, err)
		}
	}
	os.Symlink(want, dir+"/many")
	if p, err := Find(dir+"/many", ""); err != nil || p.Start(t.Context(), "x").Args[0] != dir+"/many" || p.Path != want {
		t.Errorf("a program of many names: %+v, %v", p, err)
	}
	if err := p.Same(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(file(t, good+"/other"), want); err != nil {
		t.Fatal(err)
	}
	if err := p.Same(); err == nil {
		t.Error("another file of the same name is taken for the same")
	}
	if (Program{Path: want}).Same() == nil {
		t.Error("a program that was never found is taken for one")
	}
}

func TestNamed(t *testing.T) {
	tree := t.TempDir()
	t.Setenv("HOME", tree)
	t.Setenv("TREE", tree)
	file(t, tree+"/cache")
	file(t, tree+"/tools/key.sh")
	for script, want := range map[string]bool{"cache": false, "cache --timeout=300": false, "vi": false, "./cache": true, "sh cache": true, "sh -c tools/key.sh": true} {
		if got := Named([]string{"", script}, tree, tree) != ""; got != want {
			t.Errorf("the script %q: %v", script, got)
		}
	}
	for want, argv := range map[string][]string{
		"tools/key.sh":                                {"sh", "tools/key.sh"},
		"./tools/key.sh -v":                           {"sh", "-c", "./tools/key.sh -v"},
		tree + "/tools/key.sh":                        {"cat", tree + "/tools/key.sh"},
		"--file=tools/key.sh":                         {"x", "--file=tools/key.sh"},
		"cat </dev/null; (" + tree + "/tools/key.sh)": {"sh", "-c", "cat </dev/null; (" + tree + "/tools/key.sh)"},
		tree + "/tools":                               {"make", "-C", tree + "/tools"},
		"cd " + tree + "/tools && sh key.sh":          {"sh", "-c", "cd " + tree + "/tools && sh key.sh"},
		"--file=" + tree + "/later":                   {"x", "--file=" + tree + "/later"},
		"-C" + tree + "/later":                        {"make", "-C" + tree + "/later"},
		"-C/.." + tree:                                {"make", "-C/.." + tree},
		"-f" + tree[1:] + "/tools/key.sh":             {"make", "-f" + tree[1:] + "/tools/key.sh"}, // it is started in /
		tree[1:] + "/tools/key.sh":                    {"sh", tree[1:] + "/tools/key.sh"},
		"file://" + tree + "/tools/key.sh":            {"node", "--import", "file://" + tree + "/tools/key.sh"},
		"@" + tree + "/tools/key.sh":                  {"x", "@" + tree + "/tools/key.sh"},
		"cd ~/tools; sh key.sh":                       {"sh", "-c", "cd ~/tools; sh key.sh"},
		"sh ${TREE:-x}/tools/key.sh $TREE_NONE":       {"sh", "-c", "sh ${TREE:-x}/tools/key.sh $TREE_NONE"},
	} {
		if got := Named(argv, tree, tree); got != want {
			t.Errorf("%q: got %q", argv, got)
		}
	}
	for _, argv := range [][]string{nil, {"pass"}, {"pass", "show", "key"}, {"cat", "/etc/hostname"}, {"op", "read", "op://vault/tools"}, {"x", "tools"}, {"x", "~"}, {"x", "a~/tools", "$HOMES/tools/key.sh"}, {"x", tree + "-2/tools"}} {
		if got := Named(argv, tree, tree); got != "" {
			t.Errorf("%q: got %q", argv, got)
		}
	}
}

// No variable leads what is started on the host to code in the work tree, as PATH does not.
func TestEnviron(t *testing.T) {
	tree := t.TempDir()
	t.Chdir(tree)
	file(t, tree+"/tools/x")
	for in, want := range map[string]string{
		"LD_LIBRARY_PATH=:/opt/lib": "LD_LIBRARY_PATH=/opt/lib", "LD_LIBRARY_PATH=/opt/lib::": "LD_LIBRARY_PATH=/opt/lib", "LD_LIBRARY_PATH=.": "",
		"LD_LIBRARY_PATH=/a;" + tree + ";lib": "LD_LIBRARY_PATH=/a", "LD_PRELOAD=./x.so /opt/y.so": "LD_PRELOAD=/opt/y.so", "LD_PRELOAD=" + tree + "/x.so": "",
		"LD_AUDIT=x.so": "", "GCONV_PATH=.": "", "DYLD_INSERT_LIBRARIES=x:/y": "DYLD_INSERT_LIBRARIES=/y", "PATH=.:/bin": "PATH=/bin", "HOME=.": "HOME=.",
		"PYTHONPATH=src:/opt/py:" + tree: "PYTHONPATH=/opt/py", "PYTHONPATH=": "", "PERL5LIB=lib": "", "RUBYLIB=" + tree + "/lib": "", "NODE_PATH=/opt/node": "NODE_PATH=/opt/node",
		"BASH_ENV=tools/x": "", "BASH_ENV=/$PWD/tools/x": "", "ENV=/`pwd`/x": "", "BASH_ENV=/proc/self/cwd/tools/x": "", "BASH_ENV=/etc/bash.env": "BASH_ENV=/etc/bash.env",
		"PERL5OPT=-Mlib=tools": "", "PERL5OPT=-Itools": "", "PERL5OPT=-MEvil": "", "PERL5OPT=-wIlib": "", "PERL5OPT=-w": "PERL5OPT=-w", "RUBYOPT=-r./x": "", "RUBYOPT=-Ilib:/x": "",
		"RUBYOPT=-W0 -I/opt/ruby": "RUBYOPT=-W0 -I/opt/ruby", "RUBYOPT=-rbundler/setup": "", "NODE_OPTIONS=--require ./x.js": "", "NODE_OPTIONS=--require x": "", "NODE_OPTIONS=--import=x": "",
		"NODE_OPTIONS=--require=" + tree + "/x.js": "", "NODE_OPTIONS=--require=/opt/x.js --use-openssl-ca --max-old-space-size=4096": "NODE_OPTIONS=--require=/opt/x.js --use-openssl-ca --max-old-space-size=4096",
		"NODE_OPTIONS=--experimental-default-config-file": "", "JAVA_TOOL_OPTIONS=-Xmx2g -javaagent:/opt/a.jar": "JAVA_TOOL_OPTIONS=-Xmx2g -javaagent:/opt/a.jar", "JAVA_TOOL_OPTIONS=-javaagent:a.jar": "",
		"LUA_PATH_5_4=?.lua;/opt/?.lua": "LUA_PATH_5_4=/opt/?.lua", "LESSOPEN=|tools/x %s": "", "LESSOPEN=||-/usr/bin/lesspipe %s": "LESSOPEN=||-/usr/bin/lesspipe %s",
		"GIT_SSH_COMMAND=ssh -F tools/x": "", "GIT_SSH_COMMAND=ssh -p 22": "GIT_SSH_COMMAND=ssh -p 22", "PAGER=tools/later": "", "EDITOR=code --wait": "EDITOR=code --wait", "GIT_EXEC_PATH=.": "",
		// The table does not have these.
		"AWS_SHARED_CREDENTIALS_FILE=" + tree + "/creds": "", "RUBYGEMS_GEMDEPS=" + tree + "/Gemfile": "", "AWKPATH=/usr/share/awk:" + tree + "/awk": "", "CDPATH=" + tree: "", "X=--rc=" + tree + "/x": "",
		"X=file://" + tree + "/x": "", "X=/proc/self/cwd/later/x": "", "X=sh -c '. " + tree + "/x'": "", "AWS_SHARED_CREDENTIALS_FILE=/etc/creds": "AWS_SHARED_CREDENTIALS_FILE=/etc/creds",
		"PWD=" + tree: "PWD=" + tree, "TMPDIR=" + tree + "/tmp": "TMPDIR=" + tree + "/tmp", "GIT_DIR=" + tree + "/.git": "GIT_DIR=" + tree + "/.git", "X=" + tree + "-2/x": "X=" + tree + "-2/x", "X=a/b": "X=a/b",
	} {
		if got := strings.Join(Environ([]string{in}, tree), " "); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	if got := strings.Join(Boxed([]string{"PYTHONPATH=src", "LD_PRELOAD=./x.so", "PATH=bin:/bin", "X=" + tree}, tree), " "); got != "PYTHONPATH=src PATH=/bin X="+tree {
		t.Errorf("in a box: %q", got)
	}
}
