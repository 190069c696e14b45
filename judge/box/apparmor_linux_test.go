package box_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	. "github.com/paxiom/relay/judge/box"
)

// The command that doctor prints writes the profile, and AppArmor's own parser takes it.
func TestProfile(t *testing.T) {
	t.Parallel()
	want := strings.Join(Profile("/usr/local/bin/relay"), "\n") + "\n"
	line := ProfileCommand()
	begin, end := strings.Index(line, "printf"), strings.Index(line, " >/etc")
	if begin < 0 || end < 0 {
		t.Skipf("this test lies at a path that no profile names: %q", line)
	}
	out, err := exec.Command("sh", "-c", line[begin:end]).Output()
	exe, _ := os.Executable()
	if got := strings.ReplaceAll(string(out), exe, "/usr/local/bin/relay"); err != nil || got != want {
		t.Fatalf("%v: %q, want %q", err, got, want)
	}
	version, err := exec.Command("apparmor_parser", "--version").Output()
	if err != nil {
		t.Skip("the profile is not parsed: there is no apparmor_parser")
	}
	m := regexp.MustCompile(`version (\d+)\.`).FindSubmatch(version)
	if m == nil {
		t.Fatalf("apparmor_parser says no version: %s", version)
	}
	if major, _ := strconv.Atoi(string(m[1])); major < 4 {
		t.Skipf("the profile is not parsed: AppArmor %s does not know user namespaces yet", m[1])
	}
	file := filepath.Join(t.TempDir(), "relay")
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("apparmor_parser", "--skip-kernel-load", "--skip-cache", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
