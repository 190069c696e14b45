package change

import (
	"io/fs"
	"slices"
)

// A builder can write a file in place that lies in a folder in which nobody may make one.
// An apply makes files and gives them other names, so such folders are open while it
// runs. Their modes are in the plan, so that finishing or reverting it restores them.

// passable are the permissions that an owner needs to rename in a folder.
const passable fs.FileMode = 0o300

// shut reports whether a folder is to be opened for an apply.
func (d dirState) shut() bool { return d.Exists && d.Mode&passable != passable }

// openDirs opens the shut folders. One that relay may not open it may be able to write
// in all the same; else the writing says why not.
func (a *applier) openDirs() {
	for _, d := range a.plan.Dirs {
		if d.shut() {
			a.chmodDir(d, d.Mode, d.Mode|passable)
		}
	}
}

// shutDirs undoes openDirs, the innermost first.
func (a *applier) shutDirs() {
	for _, d := range slices.Backward(a.plan.Dirs) {
		if d.shut() {
			a.chmodDir(d, d.Mode|passable, d.Mode)
		}
	}
}

// revertDirs removes the empty folders that were not there before, or gives those
// that were there their modes back.
func (a *applier) revertDirs(made bool) {
	for _, d := range slices.Backward(a.plan.Dirs) {
		switch {
		case made && !d.Exists:
			if now := a.dirAt(d); now != nil {
				a.real.Remove(string(d.Path))
			}
		case !made && d.Exists:
			if now := a.dirAt(d); now != nil {
				a.chmodDir(d, now.Mode().Perm(), d.Mode)
			}
		}
	}
}

// chmodDir gives a folder other permissions if it has those that are expected. Its other
// bits stay.
func (a *applier) chmodDir(d dirState, from, to fs.FileMode) {
	now := a.dirAt(d)
	if now == nil || now.Mode().Perm() != from || from == to {
		return
	}
	a.real.Chmod(string(d.Path), now.Mode()&^fs.ModePerm|to)
}

// dirAt is the folder at a path; nil when there is none.
func (a *applier) dirAt(d dirState) fs.FileInfo {
	fi, err := a.real.stat(string(d.Path))
	if err != nil || fi == nil || !fi.IsDir() {
		return nil
	}
	return fi
}
