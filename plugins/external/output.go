package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/paxiom/relay/plugins/internal/scripted"
	"github.com/paxiom/relay/sdk"
	"github.com/paxiom/relay/sdk/script"
)

// maxResult bounds the result file.
const maxResult = 1 << 20

// output is the file that the driver is to write. When it lies in the workspace,
// what was there before is put back at the end: a result is not a change.
type output struct {
	root    *os.Root
	name    string
	begun   time.Time
	restore func() // puts back what was there; nil: the file is removed with its folder
}

// expect makes sure that no result is there yet, so that one that is there later
// is of this run.
func (r *run) expect(file string) (*output, error) {
	base := r.request.Workspace
	private := file == ""
	if private {
		base, file = r.dir, "result.json"
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, sdk.Fail(sdk.BadRequest, "the workspace can't be opened", sdk.Cause(err), sdk.EffectNone)
	}
	r.out = filepath.Join(base, file)
	o := &output{root: root, name: file, begun: time.Now()}
	if private {
		return o, nil
	}
	if err := o.setAside(); err != nil {
		root.Close()
		return nil, sdk.Fail(sdk.BadConfig, "the file that output_file names can't be used", sdk.Cause(err), sdk.EffectNone,
			sdk.Fix("give output_file another name, or leave it out"))
	}
	return o, nil
}

// makeFolders makes those above the file that are missing, as relay's own is in a fresh
// work tree, and names them, the deepest first.
func (o *output) makeFolders() (made []string, err error) {
	for dir := filepath.Dir(o.name); dir != "."; dir = filepath.Dir(dir) {
		if _, err := o.root.Lstat(dir); err == nil {
			break
		}
		made = append(made, dir)
	}
	return made, o.root.MkdirAll(filepath.Dir(o.name), 0o755)
}

// setAside removes an earlier run's result and remembers its bytes.
func (o *output) setAside() error {
	o.restore = func() { o.root.Remove(o.name) }
	before, err := o.root.Lstat(o.name)
	if errors.Is(err, fs.ErrNotExist) {
		made, err := o.makeFolders()
		o.restore = func() {
			o.root.Remove(o.name)
			for _, dir := range made {
				o.root.Remove(dir)
			}
		}
		return err
	}
	if err != nil {
		return err
	}
	if !before.Mode().IsRegular() {
		return fmt.Errorf("%s is not an ordinary file", o.name)
	}
	old, err := o.bytes()
	if err != nil {
		return err
	}
	o.restore = func() {
		o.root.Remove(o.name)
		if o.root.WriteFile(o.name, old, before.Mode().Perm()) == nil {
			o.root.Chmod(o.name, before.Mode().Perm())
		}
	}
	return o.root.Remove(o.name)
}

// close cleans the workspace of the result.
func (o *output) close() {
	if o.restore != nil {
		o.restore()
	}
	o.root.Close()
}

// clockSlack is how far a file system's clock may be behind ours.
const clockSlack = 2 * time.Second

// read gives the result of this run, or says why there is none. A file with an old
// date is one that the driver took from somewhere else.
func (o *output) read() ([]byte, error) {
	info, err := o.root.Lstat(o.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("it was not written")
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not an ordinary file")
	case info.ModTime().Before(o.begun.Add(-clockSlack)):
		return nil, fmt.Errorf("it is of %s, before this run", info.ModTime().UTC().Format(time.RFC3339))
	}
	b, err := o.bytes()
	if err != nil {
		return nil, err
	}
	return b, nil
}

// failure is what a driver that failed says of it: {"failure": {"reason": …}} in place
// of a result. nil when it says nothing that can be used.
func (o *output) failure(now time.Time) *sdk.Failure {
	b, err := o.read()
	if err != nil {
		return nil
	}
	var said struct {
		Failure *script.Failure `json:"failure"`
	}
	if json.Unmarshal(b, &said) != nil || said.Failure == nil || said.Failure.Validate() != nil {
		return nil
	}
	f := scripted.Failure(said.Failure, now)
	if said.Failure.Effect == "" {
		f.Effect = sdk.EffectUnknown // it may have changed the tree before
	}
	return f
}

func (o *output) bytes() ([]byte, error) {
	f, err := o.root.Open(o.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxResult+1))
	if err == nil && len(b) > maxResult {
		err = fmt.Errorf("it is larger than %d bytes", maxResult)
	}
	return b, err
}
