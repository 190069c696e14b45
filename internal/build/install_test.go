package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The script behind make install, with programs that are none: as root and as a user.
func TestInstall(t *testing.T) {
	for name, uid := range map[string]int{"as root": 0, "as a user": 65534} {
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() != 0 && uid == 0 {
				t.Skip("the test does not run as root")
			}
			// Not t.TempDir: its folders are for one user only.
			dir, err := os.MkdirTemp("", "relay-install-")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if os.Geteuid() == 0 {
				if err := os.Chown(dir, uid, uid); err != nil {
					t.Fatal(err)
				}
			}
			installed(t, dir, uid)
		})
	}
}

func installed(t *testing.T, dir string, uid int) {
	script, err := os.ReadFile("../../.ci/install") // a copy: the user may not read the sources
	if err != nil {
		t.Fatal(err)
	}
	run := func(program string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "BIN=" + filepath.Join(dir, "made")}
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	sh := func(text string) {
		t.Helper()
		if out, err := run("sh", "-ec", text); err != nil {
			t.Fatalf("%s: %v: %s", text, err, out)
		}
	}
	prefix := filepath.Join(dir, "a prefix")
	installScript := filepath.Join(dir, "tree", ".ci", "install")
	sh("mkdir -p made tree/.ci tree/sdk && echo sdk >tree/sdk/doc.go && cat >" + installScript + " <<'END'\n" + string(script) + "\nEND\nchmod 755 " + installScript)
	install := func(args ...string) string {
		t.Helper()
		out, err := run(installScript, args...)
		if err != nil {
			t.Fatalf("install %q: %v: %s", args, err, out)
		}
		return out
	}
	if out, err := run(installScript, prefix); err == nil || !strings.Contains(out, "`make build` first") {
		t.Errorf("with nothing made: %v, %s", err, out)
	}
	// It writes its man pages and completions itself, as the real one does.
	sh("printf '#!/bin/sh\n[ \"$1 $2\" = \"man --prefix\" ] || exit 1\nmkdir -p \"$3/share/man/man1\" && echo page >\"$3/share/man/man1/relay.1\"\nmkdir -p \"$3/share/fish/vendor_completions.d\" && echo >\"$3/share/fish/vendor_completions.d/relay.fish\"\n' >made/relay; echo a >made/relay-plugin-a; echo b >made/relay-plugin-b; echo f >made/relay-fleet; chmod 755 made/relay*")
	if out, err := run(installScript, "relative"); err == nil {
		t.Errorf("a relative prefix: %s", out)
	}
	if out := install(prefix); !strings.Contains(out, "2 plugins") || !strings.Contains(out, "relay-fleet too") || !strings.Contains(out, "is not in PATH") {
		t.Errorf("it says %q", out)
	}
	sh("echo mine >'a prefix/libexec/relay/relay-plugin-mine'; rm made/relay-plugin-b; echo '# newer' >>made/relay; echo ../../../made/relay >>'a prefix/libexec/relay/installed'")
	install(prefix) // a newer one, with a plugin less
	if got := tree(t, prefix); got != "bin/relay libexec/relay/installed libexec/relay/relay-fleet libexec/relay/relay-plugin-a libexec/relay/relay-plugin-mine share/fish/vendor_completions.d/relay.fish share/man/man1/relay.1 share/relay/sdk/doc.go" {
		t.Errorf("installed twice: %s", got)
	}
	if b, err := os.ReadFile(filepath.Join(prefix, "bin", "relay")); !strings.HasSuffix(string(b), "# newer\n") {
		t.Errorf("relay is %q, %v", b, err)
	}
	for _, f := range []string{"bin", "bin/relay", "libexec/relay", "libexec/relay/relay-plugin-a"} {
		if st, err := os.Stat(filepath.Join(prefix, f)); err != nil || st.Mode().Perm() != 0o755 {
			t.Errorf("%s: %v, %v", f, st.Mode(), err)
		}
	}
	install("-u", prefix)
	if got := tree(t, prefix); got != "libexec/relay/relay-plugin-mine" {
		t.Errorf("after it was taken away: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "made", "relay")); err != nil {
		t.Error("the list led out of the folder: ", err)
	}
}

// tree lists the files below a folder.
func tree(t *testing.T, dir string) string {
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}
