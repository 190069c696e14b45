package box

import (
	"os"

	"github.com/paxiom/relay/judge/box/internal/tree"
	"golang.org/x/sys/unix"
)

// A file that was removed, or never had a name, takes space for as long as a process has
// it open. No walk finds it; the descriptors of the processes lead to it.

// openFile is one such file.
type openFile struct{ dev, ino uint64 }

// eachNameless gives every regular file without a name that these processes have open,
// once, with a path that leads to it. Of a process that hides its descriptors, or that is
// gone, there is nothing.
func eachNameless(pids []string, found func(path string, file unix.Stat_t)) {
	seen := map[openFile]bool{}
	for _, pid := range pids {
		dir := "/proc/" + pid + "/fd"
		fds, err := os.Open(dir)
		if err != nil {
			continue
		}
		names, _ := fds.Readdirnames(-1)
		fds.Close()
		for _, name := range names {
			var st unix.Stat_t
			path := dir + "/" + name
			if unix.Stat(path, &st) != nil || st.Nlink > 0 || !tree.Is(&st, unix.S_IFREG) {
				continue
			}
			if file := (openFile{uint64(st.Dev), st.Ino}); !seen[file] {
				seen[file] = true
				found(path, st)
			}
		}
	}
}

// nameless is what files without a name take on the disk of a folder, of all processes
// that descend from one. An overlay's numbers are those of the disk that its layer is on.
func nameless(of int, folder string) (sum int64) {
	var disk unix.Statfs_t
	if of == 0 || unix.Statfs(folder, &disk) != nil {
		return 0
	}
	pids, _ := Family(of)
	eachNameless(pids, func(path string, file unix.Stat_t) {
		var st unix.Statfs_t
		if unix.Statfs(path, &st) == nil && st.Bsize == disk.Bsize && st.Blocks == disk.Blocks && st.Files == disk.Files {
			sum += file.Blocks * 512
		}
	})
	return sum
}
