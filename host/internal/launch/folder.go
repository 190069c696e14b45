package launch

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/workspace"
)

// Doubt is why something must not be executed, and what to do about it.
type Doubt struct{ Why, Fix string }

// UnsafeFolder looks at every folder from base, itself included, down to the one that
// path lies in: each must be a real folder of this user's, or of root's, that nobody
// else can write, or somebody else could put another file there. nil when all are.
func UnsafeFolder(base, path string) *Doubt {
	rel, err := filepath.Rel(base, filepath.Dir(path))
	if err != nil || !filepath.IsLocal(rel) {
		return &Doubt{Why: fmt.Sprintf("%s does not lie in %s", path, base), Fix: "`relay plugin list`"}
	}
	dir := base
	for _, part := range append([]string{""}, strings.Split(rel, string(filepath.Separator))...) {
		dir = filepath.Join(dir, part)
		st, err := os.Lstat(dir)
		if err != nil {
			return &Doubt{Why: err.Error(), Fix: "`ls -ld " + diag.Word(dir) + "`"}
		}
		if bad := unsafeFolder(dir, st); bad != nil {
			return bad
		}
	}
	return nil
}

func unsafeFolder(dir string, st fs.FileInfo) *Doubt {
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return &Doubt{Why: dir + " is a symbolic link; plugins lie in real folders only", Fix: "`rm " + diag.Word(dir) + "`, then install the plugin again"}
	case !st.IsDir():
		return &Doubt{Why: dir + " is not a folder", Fix: "`rm " + diag.Word(dir) + "`, then install the plugin again"}
	}
	if why := others(dir, st); why != "" {
		return &Doubt{Why: "the folder " + dir + " " + why, Fix: ownFix(dir, st)}
	}
	return nil
}

// ownFix makes what others have a say in the user's own; "" when only another file helps.
func ownFix(path string, st fs.FileInfo) string {
	switch say := workspace.Others(path, st); {
	case !st.Mode().IsRegular() && !st.IsDir():
	case say == workspace.Shared:
		return "`chmod go-w " + diag.Word(path) + "`"
	case say == workspace.Foreign:
		return fmt.Sprintf("`chown %d %s`, or run relay as the owner", os.Geteuid(), diag.Word(path))
	}
	return ""
}

// UnsafeFile says why the file at path must not be executed, whatever its content: not a
// regular file, writable by others, owned by another user. nil when it may be. The fix
// is empty when only another file helps.
func UnsafeFile(path string) *Doubt {
	st, err := os.Lstat(path)
	if err != nil {
		return &Doubt{Why: err.Error()}
	}
	if why := unsafe(path, st); why != "" {
		return &Doubt{Why: why, Fix: ownFix(path, st)}
	}
	return nil
}
