package launch

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// identity is one state of one file. The kernel moves a file's change time on with
// every write to it, and nobody can set it back.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime unix.Timespec
}

// known are the hashes of files that this process has read: in a loop the same plugins
// are started over and over, and reading one takes longer than starting it.
var known struct {
	sync.Mutex
	hash map[identity]string
}

// grain is how exactly a file's times are kept, generously: what was written within it
// after the file was read could have left them as they were.
const grain = time.Second

// hashOnce is HashFile, or what it gave for the same state of the same file.
func hashOnce(f *os.File) (string, error) {
	at, err := identify(f)
	if err != nil {
		return "", err
	}
	known.Lock()
	hash, ok := known.hash[at]
	known.Unlock()
	if ok {
		return hash, nil
	}
	begun := time.Now()
	if hash, err = HashFile(f); err != nil {
		return "", err
	}
	if now, err := identify(f); err != nil || now != at || begun.Sub(time.Unix(at.ctime.Unix())) < grain {
		return hash, err // it changed just now, or may have
	}
	known.Lock()
	defer known.Unlock()
	if known.hash == nil {
		known.hash = map[identity]string{}
	}
	known.hash[at] = hash
	return hash, nil
}

func identify(f *os.File) (identity, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return identity{uint64(st.Dev), st.Ino, st.Size, st.Mtim, st.Ctim}, err
}
