//go:build linux || darwin

package copies

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/paxiom/relay/judge/box"
	"github.com/paxiom/relay/judge/box/internal/tree"
)

// Where no overlay can be laid over the home folder, a process gets one made of links:
// what lies in the real one can be read at its usual place, and what is made new in it
// goes with it. Small files are copied, so that appending to one is no way out.

// homeFolders are real folders in the made home; others are links.
var homeFolders = []string{".config", ".local", ".local/share", ".local/state"}

const (
	maxHomeFile  = 256 << 10
	maxHomeNames = 5000
)

// makeHome makes such a home in a new folder.
func makeHome(home, to string, persist []string, hidden []box.Hidden) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	if home == "" {
		return nil
	}
	fillHome(home, to, "", hidden)
	for _, path := range persist {
		rel, err := filepath.Rel(home, path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		at := filepath.Join(to, rel)
		if os.MkdirAll(filepath.Dir(at), 0o700) == nil {
			os.Remove(at) // a link or a copy
			os.Symlink(path, at)
		}
	}
	return nil
}

// fillHome links and copies what is in one folder; what can't be read is left out, and
// of what is hidden there is what stands for it.
func fillHome(home, to, rel string, hidden []box.Hidden) {
	entries, err := os.ReadDir(filepath.Join(home, rel))
	if err != nil || len(entries) > maxHomeNames {
		return
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		from, at := filepath.Join(home, name), filepath.Join(to, name)
		real, _ := filepath.EvalSymlinks(from)
		is := slices.IndexFunc(hidden, func(h box.Hidden) bool { return tree.Within(real, h.Path) })
		above := slices.ContainsFunc(hidden, func(h box.Hidden) bool { return tree.Within(h.Path, from) })
		info, err := e.Info()
		switch {
		case err != nil:
		case is >= 0 && isFolder(real):
			os.Mkdir(at, 0o700)
		case is >= 0:
			os.WriteFile(at, hidden[is].Instead, 0o600)
		case name == ".cache": // empty: it can be made again
			os.Mkdir(at, 0o700)
		case info.IsDir() && (above || slices.Contains(homeFolders, name)):
			if os.Mkdir(at, 0o700) == nil {
				fillHome(home, to, name, hidden)
			}
		case info.Mode().IsRegular() && info.Size() <= maxHomeFile && copySmall(from, at, info.Mode()) == nil:
		case info.Mode()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) == 0:
			if info.Mode()&fs.ModeSymlink != 0 && real != "" {
				from = real
			}
			os.Symlink(from, at)
		}
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func copySmall(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm()|0o200)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, io.LimitReader(in, maxHomeFile))
	return err
}
