package change

import (
	"os"
	"path"
)

// Show puts a file of relay's own into what the box shows, before anything runs in it. Where that is
// the work tree itself nothing is written.
func (c *Change) Show(name string, b []byte) error {
	at := c.box.Dir()
	if at == c.env.Git.Root {
		at = c.Root()
	}
	if at == c.env.Git.Root {
		return nil
	}
	shown, err := os.OpenRoot(at)
	if err != nil {
		return err
	}
	defer shown.Close()
	for at := name; at != "."; at = path.Dir(at) {
		if fi, err := shown.Lstat(at); err == nil && (at == name && !fi.Mode().IsRegular() || at != name && !fi.IsDir()) {
			return nil // the repository has a link or something else there: it is not followed, and stays
		}
	}
	if err := shown.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return shown.WriteFile(name, b, 0o644)
}
