package change

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/paxiom/relay/host/change/fault"
	"github.com/paxiom/relay/host/internal/journal"
	"github.com/paxiom/relay/judge"
)

// applier writes a plan into the work tree, or takes it back.
type applier struct {
	real *realTree
	log  *journal.Log
	plan *plan
	// check reports whether an entry's path still is what the plan replaces: by stamp
	// the first time, by content after a crash. done is true when the new side is
	// there already.
	check func(e *entry) (done bool, err error)
	acted bool // something of the work tree was replaced or removed
}

// byStamp is the check of a first apply.
func (a *applier) byStamp(e *entry) (done bool, err error) {
	now, err := a.real.stampAt(string(e.Path))
	if err != nil {
		return false, unseen(string(e.Path), err)
	}
	if !e.Old.Exists && now.Mode.IsDir() {
		return false, nil // its files are deleted first; what is left makes the rename fail
	}
	if now.Same(e.base) {
		return false, nil
	}
	if a.relinked(e, now) {
		if now, err := a.real.describe(string(e.Path), nil); err == nil && e.isOld(now) {
			return false, nil
		}
	}
	return false, moved(string(e.Path), "it was changed while the builder ran")
}

// relinked reports whether nothing but the change time of an entry's file differs, and
// another entry had been the same file, by a hard link: to take that name away changes
// the time for both.
func (a *applier) relinked(e *entry, now judge.Stamp) bool {
	now.CTime = e.base.CTime
	return now == e.base && slices.ContainsFunc(a.plan.Entries, func(o entry) bool {
		return o.Path != e.Path && o.base.Exists && o.base.Ino == e.base.Ino
	})
}

// byContent is the check after a crash.
func (a *applier) byContent(e *entry) (done bool, err error) {
	now, err := a.real.describe(string(e.Path), nil)
	if err != nil {
		return false, unseen(string(e.Path), err)
	}
	mine, err := a.caught(e)
	switch {
	case err != nil:
		return false, unseen(string(e.Path), err)
	case mine != "":
		return false, moved(string(e.Path), saved)
	case e.isNew(now):
		return true, nil
	case e.isOld(now):
		return false, nil
	}
	return false, moved(string(e.Path), "it is neither what it was before the crash nor what relay was writing")
}

// apply writes the plan: all new files under temporary names and fsynced, then the
// deletions, then the renames. When it fails it leaves the tree to revert.
func (a *applier) apply() error {
	todo, err := a.pending()
	if err != nil {
		return err
	}
	journal.Reached("apply.checked")
	a.openDirs()
	late, err := a.writeAll(todo)
	if err != nil {
		return err
	}
	journal.Reached("apply.written")
	if todo, err = a.pending(); err != nil { // the operator had time meanwhile
		return err
	}
	a.acted = true
	for _, e := range todo {
		if e.New.Exists {
			continue
		}
		if err := a.remove(e); err != nil {
			return err
		}
	}
	a.prune()
	if late, err = a.writeAll(late); err == nil && len(late) > 0 {
		err = &fs.PathError{Op: "mkdir", Path: string(late[0].Path), Err: syscall.ENOTDIR}
	}
	if err != nil {
		return err
	}
	for _, e := range todo {
		if !e.New.Exists {
			continue
		}
		if err := a.replace(e); err != nil {
			return err
		}
	}
	return a.finish()
}

// prune removes the folders that the deletions left empty, those of an apply that was cut
// off among them.
func (a *applier) prune() {
	for _, e := range a.plan.Entries {
		if !e.New.Exists {
			a.real.prune(string(e.Path))
		}
	}
}

// finish makes what was written safe, and notes its stamps.
func (a *applier) finish() error {
	a.shutDirs()
	names := make([]string, len(a.plan.Entries))
	for i := range a.plan.Entries {
		e := &a.plan.Entries[i]
		names[i] = string(e.Path)
		var err error
		if e.after, err = a.real.stampAt(names[i]); err != nil {
			return err
		}
	}
	return a.real.syncDirs(names)
}

// pending are the entries that are not done yet.
func (a *applier) pending() ([]*entry, error) {
	var todo []*entry
	for i := range a.plan.Entries {
		done, err := a.check(&a.plan.Entries[i])
		if err != nil {
			return nil, err
		}
		if !done {
			todo = append(todo, &a.plan.Entries[i])
		}
	}
	return todo, nil
}

// writeAll writes the new side of each entry under its temporary name, and fsyncs
// them together. late are those whose folder can't be made before the deletions.
func (a *applier) writeAll(todo []*entry) (late []*entry, err error) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, e := range todo {
		if !e.New.Exists {
			continue
		}
		f, err := a.write(e, e.New, string(e.Tmp))
		if errors.Is(err, syscall.ENOTDIR) {
			late = append(late, e)
			continue
		}
		if err != nil {
			return nil, err
		}
		if f != nil {
			files = append(files, f)
		}
	}
	return late, syncAll(files)
}

// write puts one side of an entry under a temporary name. The file is returned open, for
// the fsync; a link gives none.
func (a *applier) write(e *entry, s side, tmp string) (*os.File, error) {
	if err := a.real.makeParents(string(e.Path)); err != nil {
		return nil, err
	}
	if s.link() {
		return nil, a.real.Symlink(s.Link, tmp)
	}
	f, err := a.real.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(f, a.log.ImageReader(s.Image, s.Size))
	if err == nil {
		err = f.Chmod(s.Mode.Perm())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// syncAll fsyncs the files side by side: the file system then writes them together.
func syncAll(files []*os.File) error {
	errs := make([]error, len(files))
	limit := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for i, f := range files {
		limit <- struct{}{}
		wg.Go(func() {
			errs[i] = f.Sync()
			<-limit
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// revert puts the old side back wherever the new one is, and removes folders that
// the apply made. Paths that somebody else has changed since stay as they are and
// are returned.
func (a *applier) revert() (foreign []string, err error) {
	if err := a.clean(); err != nil {
		return nil, err
	}
	var back []*entry
	for i := range a.plan.Entries {
		e := &a.plan.Entries[i]
		now, err := a.real.describe(string(e.Path), nil)
		switch {
		case err != nil:
			return foreign, err
		case e.isOld(now): // never got that far
		case e.isNew(now):
			back = append(back, e)
		default:
			foreign = append(foreign, string(e.Path))
		}
	}
	isNew := func(e *entry) func() (bool, error) {
		return func() (bool, error) {
			now, err := a.real.describe(e.back(), nil)
			return err == nil && now.same(e.New), err
		}
	}
	each := func(step func(*entry, func() (bool, error)) error) error {
		for _, e := range back {
			err := step(e, isNew(e))
			if fault.Is(err, judge.StopHeadMoved) {
				foreign = append(foreign, string(e.Path))
			} else if err != nil {
				return err
			}
		}
		return nil
	}
	err = each(func(e *entry, isNew func() (bool, error)) error {
		if e.Old.Exists {
			return nil
		}
		return a.take(string(e.Path), e.back(), isNew)
	})
	if err != nil {
		return foreign, err
	}
	a.revertDirs(true)
	if err := each(a.restore); err != nil {
		return foreign, err
	}
	a.revertDirs(false)
	return foreign, a.finish()
}

// restore puts the old side of one entry back.
func (a *applier) restore(e *entry, isNew func() (bool, error)) error {
	if !e.Old.Exists {
		return nil
	}
	f, err := a.write(e, e.Old, e.back())
	if err != nil {
		return fmt.Errorf("put back: %w", err)
	}
	if f != nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err == nil {
		err = a.put(e.back(), string(e.Path), e.New.Exists, isNew)
	}
	journal.Reached("revert.renamed")
	return err
}
