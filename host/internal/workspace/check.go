package workspace

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/beneath"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/schemas"
)

// MaxRunnerFile is the largest of relay's own JSON files that is read, in bytes: a
// task with the largest patch, every byte of it escaped, fits.
const MaxRunnerFile = 4 << 20

// CleanTmp removes the stale temporary files that match glob (relative to the
// repository's root), of the state and of its copies alike, and says how many. Whatever the glob says, only regular files
// or links that lie directly in a folder of the workspace and whose name ends in
// [TmpSuffix] go; a link's target stays.
func (w *Workspace) CleanTmp(glob string) (int, error) {
	if err := ValidTmpGlob(w.rel, glob); err != nil {
		return 0, diag.Wrap(err, judge.BlockedMissingConfig, "runner.crash_cleanup.delete_tmp_glob "+quote(glob)+" is refused",
			"`relay config show --origin` says where it is set; \""+w.rel+"/*.tmp\" is the usual value")
	}
	n, err := cleanTmp(w.state, strings.TrimPrefix(glob, w.rel+"/"))
	if err != nil {
		return n, err
	}
	if _, err := beneath.ReadDir(w.root, w.rel); err != nil {
		return n, nil // there are no copies
	}
	m, err := cleanTmp(w.Shared(), strings.TrimPrefix(glob, w.rel+"/"))
	return n + m, err
}

// cleanTmp removes what glob names in a folder.
func cleanTmp(dir, glob string) (n int, err error) {
	top := path2dir(glob)
	err = filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(top)), func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		rel = filepath.ToSlash(rel)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			// A glob without "**" reaches one folder only: history is not walked for it.
			if !strings.Contains(glob, "**") && rel != top && (top != "" || rel != ".") {
				return fs.SkipDir
			}
			return nil
		case !strings.HasSuffix(d.Name(), TmpSuffix) || !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0:
			return nil
		}
		if !judge.Match([]string{glob}, rel) {
			return nil
		}
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return writeFault(err, p, judge.BlockedCrashRecovery)
		}
		n++
		return nil
	})
	return n, err
}

// path2dir gives the part of a glob before its first component with a wildcard,
// without the last component.
func path2dir(glob string) string {
	parts := strings.Split(glob, "/")
	for i, p := range parts {
		if strings.ContainsAny(p, "*?") || i == len(parts)-1 {
			return strings.Join(parts[:i], "/")
		}
	}
	return glob
}

// ValidTmpGlob says why a glob can't name the temporary files of the workspace rel.
func ValidTmpGlob(rel, glob string) error {
	if err := judge.ValidGlob(glob); err != nil {
		return errors.New("the pattern " + err.Error())
	}
	if !strings.HasPrefix(glob, rel+"/") {
		return errors.New("it must be in the workspace: begin with \"" + rel + "/\"")
	}
	if !strings.HasSuffix(glob, TmpSuffix) {
		return errors.New("it must end in \"" + TmpSuffix + "\", so that it can never name a file with content")
	}
	return nil
}

// Validate checks STATE.json, TASK.json, REPORT.json and BLOCKED.json, where they
// exist, against their schemas. The error is BLOCKED_CRASH_RECOVERY_REQUIRED and
// names the file and what is wrong with it.
func (w *Workspace) Validate() error {
	for _, f := range []struct{ path, schema string }{
		{w.State(), schemas.State}, {w.Task(), schemas.Task}, {w.Report(), schemas.Report}, {w.Blocked(), schemas.Blocked},
	} {
		b, err := ReadFile(f.path, MaxRunnerFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && len(bytes.TrimSpace(b)) == 0 {
			err = errors.New("it is empty")
		}
		if err == nil {
			err = schemas.Validate(f.schema, b)
		}
		if err != nil {
			return Unreadable(f.path, err)
		}
	}
	return nil
}

// ReadJSON reads one of relay's own files as decode does; nil when there is none. What
// can't be read is [Unreadable].
func ReadJSON[T any](path string, max int64, decode func([]byte, any) error) (*T, error) {
	b, err := ReadFile(path, max)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	v := new(T)
	if err == nil {
		err = decode(b, v)
	}
	if err != nil {
		return nil, Unreadable(path, err)
	}
	return v, nil
}

// Unreadable is the error for one of relay's own files that can't be what relay wrote.
func Unreadable(path string, err error) error {
	var pe *fs.PathError
	why := err.Error()
	if errors.As(err, &pe) {
		why = pe.Err.Error()
	}
	name := filepath.Base(path)
	return &diag.Error{Code: judge.BlockedCrashRecovery, What: name + " can't be trusted",
		Why: why + "; relay did not write it like that, so a crash or another program did",
		Fix: "`relay recover` sets it aside and rebuilds it, or restore " + quote(path) + " yourself", Err: err}
}

// Size is how much the files of a folder hold together, or one file alone. What can't be
// seen counts nothing.
func Size(path string) (bytes int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, broken error) error {
		if broken == nil && !d.IsDir() {
			if fi, err := d.Info(); err == nil {
				bytes += fi.Size()
			}
		}
		return nil
	})
	return bytes
}
