package release

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/launch"
	"github.com/paxiom/relay/judge"
)

// Scratch makes the install folder, in which releases are taken before they are placed.
func Scratch(installDir string) error {
	if err := os.MkdirAll(installDir, 0o700); err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "plugins can't be installed", "`ls -ld "+diag.Word(filepath.Dir(installDir))+"`, then make it writable")
	}
	return nil
}

// Place moves the release's file for this machine to where the pin says it is, in place
// of whatever is there, in one step.
func (r *Release) Place(installDir string, pin catalog.Pin) error {
	final := pin.InstallPath(installDir, r.Name)
	dest := filepath.Dir(final)
	parent := filepath.Dir(dest)
	made := filepath.Join(r.dir, "made")
	err := os.MkdirAll(parent, 0o755)
	if err == nil {
		if bad := launch.UnsafeFolder(installDir, dest); bad != nil {
			return diag.New(judge.BlockedPlugin, "plugin "+r.Name+" was not installed", bad.Why, bad.Fix)
		}
		err = os.Mkdir(made, 0o755)
	}
	if err == nil {
		err = firm(r.Binary)
	}
	if err == nil {
		err = os.Rename(r.Binary, filepath.Join(made, filepath.Base(final)))
	}
	if err == nil && r.seen[casesFile] != "" { // for another trial of it
		err = os.Rename(filepath.Join(r.dir, casesFile), filepath.Join(made, casesFile))
	}
	if err == nil {
		err = os.Rename(dest, filepath.Join(r.dir, "old"))
		if os.IsNotExist(err) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(made, dest)
	}
	if err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "plugin "+r.Name+" was not installed", "`ls -ld "+diag.Word(parent)+"`, then try again")
	}
	r.Binary = final
	syncFolder(parent)
	return nil
}

// Placed reports whether the file of a pin is where Place puts it, as it is pinned.
func Placed(installDir, name string, pin catalog.Pin) bool {
	at := pin.InstallPath(installDir, name)
	if launch.UnsafeFile(at) != nil {
		return false
	}
	sum, err := hashFile(at)
	return err == nil && "sha256:"+sum == pin.Hashes[catalog.Platform]
}

// firm makes a file a program, on disk.
func firm(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(0o755); err != nil {
		return err
	}
	return f.Sync()
}

func syncFolder(dir string) {
	if f, err := os.Open(dir); err == nil {
		f.Sync() // not every file system can
		f.Close()
	}
}

// Unplace removes the installed file of a pin, and the folders that only it needed.
func Unplace(installDir, name string, pin catalog.Pin) error {
	dir := filepath.Dir(pin.InstallPath(installDir, name))
	if bad := launch.UnsafeFolder(installDir, dir); bad != nil {
		if _, err := os.Lstat(filepath.Dir(dir)); os.IsNotExist(err) {
			return nil
		}
		return diag.New(judge.BlockedPlugin, "the file of plugin "+name+" was left where it is", bad.Why, bad.Fix)
	}
	if err := os.RemoveAll(dir); err != nil {
		return diag.Wrap(err, judge.BlockedPlugin, "the file of plugin "+name+" can't be removed", "`ls -ld "+diag.Word(dir)+"`")
	}
	for dir = filepath.Dir(dir); dir != installDir && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
	}
	return nil
}
