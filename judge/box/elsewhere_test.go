//go:build linux || darwin

package box

import (
	"os"
	"path/filepath"
	"testing"
)

// What is mounted a second time is hidden there, too, where it is the same file.
func TestHiddenElsewhere(t *testing.T) {
	t.Parallel()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(err)
	for _, name := range []string{"home/.ssh", "top/home", "other/.ssh"} {
		check(os.MkdirAll(filepath.Join(dir, name), 0o700))
	}
	// A link stands for the second mount: the same file at another path.
	check(os.Symlink(dir+"/home/.ssh", dir+"/top/home/.ssh"))
	check(os.Symlink(dir+"/home/.ssh", dir+"/key s"))
	table := "1 0 8:1 /@ / rw - btrfs x rw\n2 1 8:2 / " + dir + "/home rw - ext4 y rw\n" + // the home
		"3 1 8:2 / " + dir + "/top/home rw - ext4 y rw\n4 1 8:2 /.ssh " + dir + `/key\040s rw - ext4 y rw` + "\n5 1 8:2 / " + dir + "/other rw - ext4 y rw\n6 1 8:3 / " + dir + "/top rw - ext4 z rw\n"
	found := elsewhere(readMounts(table), Hidden{Path: dir + "/home/.ssh", Instead: []byte("x")})
	if len(found) != 2 || found[0].Path != dir+"/top/home/.ssh" || found[1].Path != dir+"/key s" || string(found[0].Instead) != "x" {
		t.Errorf("%+v", found)
	}
}
