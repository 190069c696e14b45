package change

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/paxiom/relay/host/internal/journal"
)

// A look at a file and the step that replaces it are two, and an operator can save
// between them. So nothing is replaced or removed outright: what is at the path and what
// is under the temporary name change places, and what was taken out that way is looked at
// before it is thrown away. If it is not what was expected, it is put back. Where a file
// system can't do that (some network ones), the look alone has to do.

const saved = "it was changed at the moment when relay was about to write it"

// replace puts the new side of an entry, which lies under its temporary name, in its
// place.
func (a *applier) replace(e *entry) error {
	if _, err := a.check(e); err != nil {
		return err
	}
	journal.Reached("apply.looked")
	if err := a.put(string(e.Tmp), string(e.Path), e.Old.Exists, func() (bool, error) { return a.isOld(e, e.Tmp) }); err != nil {
		return err
	}
	journal.Reached("apply.renamed")
	return nil
}

// remove takes the old side of an entry away.
func (a *applier) remove(e *entry) error {
	if _, err := a.check(e); err != nil {
		return err
	}
	journal.Reached("apply.looked")
	if err := a.take(string(e.Path), string(e.Tmp), func() (bool, error) { return a.isOld(e, e.Tmp) }); err != nil {
		return err
	}
	journal.Reached("apply.removed")
	return nil
}

// put gives what lies at tmp the name path. over says that something is there, which
// expected looks at once it has the name tmp.
func (a *applier) put(tmp, path string, over bool, expected func() (bool, error)) error {
	swap := a.real.moveTo
	if over {
		swap = a.real.exchange
	}
	switch err := swap(tmp, path); {
	case errors.Is(err, errors.ErrUnsupported):
		return a.real.Rename(tmp, path)
	case err != nil:
		return gone(err, path)
	case !over:
		return nil
	}
	return a.settle(path, tmp, expected, a.real.exchange)
}

// take removes what is at path, by way of the name tmp, at which expected looks at it.
func (a *applier) take(path, tmp string, expected func() (bool, error)) error {
	switch err := a.real.moveTo(path, tmp); {
	case errors.Is(err, errors.ErrUnsupported):
		return a.real.Remove(path)
	case err != nil:
		return gone(err, path)
	}
	return a.settle(path, tmp, expected, a.real.moveTo)
}

// settle throws away what came under the name tmp, or puts it back.
func (a *applier) settle(path, tmp string, expected func() (bool, error), back func(from, to string) error) error {
	journal.Reached("exchanged")
	if ok, err := expected(); err != nil || !ok {
		return errors.Join(moved(path, saved), err, back(tmp, path))
	}
	return a.real.Remove(tmp)
}

// gone is the error of a file that came or went between the look and the step.
func gone(err error, path string) error {
	if errors.Is(err, fs.ErrExist) || absent(err) {
		return moved(path, saved)
	}
	return err
}

// isOld reports whether what is at name is the old side of an entry: by stamp when one was
// taken, by content after a crash. To be renamed changes a file's change time.
func (a *applier) isOld(e *entry, name rawPath) (bool, error) {
	if e.base.Exists {
		now, err := a.real.stampAt(string(name))
		now.CTime = 0
		return err == nil && now.Same(e.base), err
	}
	now, err := a.real.describe(string(name), nil)
	return err == nil && now.same(e.Old), err
}

// caught names the temporary file that holds the operator's version: a crash came
// between the two looks, and what was to take its place has taken it. "" is none.
func (a *applier) caught(e *entry) (string, error) {
	for _, c := range []struct {
		name    string
		in, out side
	}{{string(e.Tmp), e.New, e.Old}, {e.back(), e.Old, e.New}} {
		there, err := a.real.stat(c.name)
		if err != nil {
			return "", err
		}
		if there == nil {
			continue
		}
		now, err := a.real.describe(string(e.Path), nil)
		if err != nil || !now.same(c.in) {
			return "", err
		}
		was, err := a.real.describe(c.name, nil)
		if err != nil {
			return "", err
		}
		if !was.same(c.in) && !was.same(c.out) {
			return c.name, nil
		}
	}
	return "", nil
}

// clean removes temporary files that an earlier, cut off apply has left, and puts back
// what was caught among them. A deletion that was cut off counts as done with it; its
// folders go with those of the apply or of the revert that follows.
func (a *applier) clean() error {
	a.openDirs()
	for i := range a.plan.Entries {
		e := &a.plan.Entries[i]
		mine, err := a.caught(e)
		if err != nil {
			continue // not to be read, or behind a link by now
		}
		if mine != "" {
			if err := a.putBack(mine, string(e.Path)); err != nil {
				return err
			}
		}
		for _, name := range []string{string(e.Tmp), e.back()} {
			fi, err := a.real.stat(name)
			if err != nil || fi == nil {
				continue
			}
			if err := a.real.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore gives what was caught its own name again.
func (a *applier) putBack(mine, path string) error {
	if there, err := a.real.stat(path); err != nil || there != nil {
		return errors.Join(err, a.real.exchange(mine, path))
	}
	if err := a.real.makeParents(path); err != nil {
		return err
	}
	return a.real.moveTo(mine, path)
}

// back is the temporary name of the old side while it is put back: another one, so that
// the half of it is not taken for something that was replaced.
func (e *entry) back() string { return strings.TrimSuffix(string(e.Tmp), tmpSuffix) + backSuffix }
