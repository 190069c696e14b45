package clitool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/paxiom/relay/sdk"
)

// Find gives the absolute path of a program. A command without a slash is looked
// up in PATH; with one it must be absolute, so that it does not depend on the
// folder that relay was called in. Install is the fix for a missing program.
func Find(command, install string) (string, error) {
	if strings.ContainsRune(command, filepath.Separator) && !filepath.IsAbs(command) {
		return "", sdk.Fail(sdk.BadConfig, fmt.Sprintf("command %q is a relative path", command),
			sdk.Fix("give an absolute path, or a name that is in PATH"))
	}
	path, err := exec.LookPath(command)
	if errors.Is(err, exec.ErrDot) {
		return "", sdk.Fail(sdk.ToolMissing, command+" is only in the current folder, from which relay starts nothing", sdk.Fix(install))
	}
	if err != nil {
		return "", sdk.Fail(sdk.ToolMissing, command+" was not found or can't be run", sdk.Cause(err), sdk.Fix(install))
	}
	return path, nil
}

// Version is the three numbers of a release.
type Version [3]int

var versionRE = regexp.MustCompile(`(?:^|[^0-9.])(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[^0-9]|$)`)

// ParseVersion takes the first version in a text, such as "2.1.329 (Claude Code)".
func ParseVersion(text string) (Version, bool) {
	m := versionRE.FindStringSubmatch(text)
	if m == nil {
		return Version{}, false
	}
	var v Version
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1]) // digits only, and few
	}
	return v, true
}

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Less orders versions.
func (v Version) Less(w Version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

// versionTimeout bounds `PROGRAM --version`. The slowest known takes 3 s, and over 20 s on a machine that is
// busy with other work.
const versionTimeout = time.Minute

// ReadVersion asks a program for its version.
func ReadVersion(ctx context.Context, path string, env []string) (Version, error) {
	var out strings.Builder
	res, err := sdk.RunCLI(ctx, sdk.CLI{
		Path: path, Args: []string{"--version"}, Env: env, Timeout: versionTimeout, MaxOutput: 64 << 10,
		OnLine: func(l []byte) { out.Write(l); out.WriteByte('\n') },
	})
	if err != nil {
		return Version{}, err
	}
	v, ok := ParseVersion(out.String())
	if res.ExitCode != 0 || !ok {
		return Version{}, sdk.Fail(sdk.ToolMissing, fmt.Sprintf("`%s --version` did not print a version", path),
			sdk.Detail(strings.TrimSpace(out.String()+"\n"+res.Stderr)), sdk.Fix("install the program again"))
	}
	return v, nil
}

// Tested is the range of versions that recorded outputs and tests cover, both
// ends included.
type Tested struct{ From, To Version }

// Warning says that a version is outside the range; empty when it is inside.
func (t Tested) Warning(program string, v Version) string {
	switch {
	case v.Less(t.From):
		return fmt.Sprintf("%s %v is older than the versions this plugin was tested with (%v to %v)", program, v, t.From, t.To)
	case t.To.Less(v):
		return fmt.Sprintf("%s %v is newer than the versions this plugin was tested with (%v to %v)", program, v, t.From, t.To)
	}
	return ""
}

// Schema adds properties to those of a plugin's configuration, which has some.
func Schema(config, more []byte) []byte {
	head, ok := bytes.CutSuffix(bytes.TrimSpace(config), []byte("\n  }\n}"))
	if !ok {
		panic("clitool: the schema does not end with its properties")
	}
	return slices.Concat(head, []byte(","), bytes.Trim(bytes.TrimSpace(more), "{}"), []byte("  }\n}"))
}

// Healthy is the answer of a program that can work; a warning that is empty is none.
func Healthy(detail, warning string) *sdk.Health {
	h := &sdk.Health{Detail: detail}
	if warning != "" {
		h.Warnings = []string{warning}
	}
	return h
}

// CallDir makes a private folder for one call below base, or below the system's
// folder for temporary files when base is empty. The caller runs remove at the end.
func CallDir(base string) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp(base, "call-")
	if err != nil {
		return "", nil, sdk.Fail(sdk.Internal, "the plugin can't make a folder for its files", sdk.Cause(err))
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
