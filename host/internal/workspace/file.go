package workspace

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
)

// TmpSuffix ends the name of every file that is not yet what it will be.
const TmpSuffix = ".tmp"

// WriteJSON writes v, indented and with a final newline, to path; see WriteFile.
func WriteJSON(path string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return WriteFile(path, b.Bytes())
}

// WriteFile replaces path by a file with these bytes: temporary name, fsync,
// rename, fsync of the folder. A symbolic link at path is replaced, never followed;
// a folder at path, or a link as its parent, is refused. After an error the old
// file is still there and no temporary one is left.
func WriteFile(path string, b []byte) error { return write(path, b, true) }

// WriteScratch is WriteFile without the two fsyncs, for what can be made again.
func WriteScratch(path string, b []byte) error { return write(path, b, false) }

func write(path string, b []byte, durable bool) error {
	dir, base := filepath.Split(path)
	d, err := unix.Open(filepath.Clean(dir), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return writeFault(err, path, judge.StopInterrupted)
	}
	defer unix.Close(d)
	tmp := base + "." + rand.Text()[:10] + TmpSuffix
	if err = fill(d, tmp, b, durable); err == nil {
		err = unix.Renameat(d, tmp, d, base)
	}
	if err != nil {
		_ = unix.Unlinkat(d, tmp, 0)
		return writeFault(err, path, judge.StopInterrupted)
	}
	if durable {
		// Some file systems can't sync a folder; the rename is done all the same.
		if err := unix.Fsync(d); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
			return writeFault(err, path, judge.StopInterrupted)
		}
	}
	return nil
}

func fill(dir int, name string, b []byte, durable bool) error {
	fd, err := unix.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), name)
	_, err = f.Write(b)
	if err == nil && durable {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// What [ReadFile] refuses.
var (
	ErrNotRegular = judge.ErrNotRegular
	ErrTooLarge   = judge.ErrTooLarge
)

// ReadFile is [judge.ReadFile].
func ReadFile(path string, max int64) ([]byte, error) { return judge.ReadFile(path, max) }

// writeFault says what a failed write means to the person at the keyboard.
func writeFault(err error, path string, code judge.Code) error {
	what := "relay can't write " + quote(path)
	dir := diag.Word(filepath.Dir(path))
	switch {
	case diag.Full(err):
		return &diag.Error{Code: code, What: what, Why: "the disk or the quota is full", Fix: "`df -h " + dir + "` shows it; free some space, then run the command again", Err: err}
	case errors.Is(err, unix.EROFS):
		return &diag.Error{Code: code, What: what, Why: "the file system is read-only", Fix: "`findmnt -T " + dir + "` shows how it is mounted; make it writable or work in a copy", Err: err}
	case errors.Is(err, fs.ErrPermission):
		return &diag.Error{Code: code, What: what, Why: "permission denied", Fix: "`ls -ld " + dir + "` shows whose it is; make it writable for you", Err: err}
	case errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST):
		return &diag.Error{Code: code, What: what, Why: "there is a folder of that name", Fix: "`ls -la " + diag.Word(path) + "`, then move it away", Err: err}
	case errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR):
		return &diag.Error{Code: code, What: what, Why: "its folder is a symbolic link or no folder, which relay does not follow", Fix: "`ls -ld " + dir + "`, then move it away", Err: err}
	default:
		return &diag.Error{Code: code, What: what, Why: err.Error(), Fix: "`ls -ld " + dir + "` and `df -h " + dir + "` show the place; repair it, then run the command again", Err: err}
	}
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m.IsDir():
		return "folder"
	case m.IsRegular():
		return "file"
	default:
		return "special file"
	}
}

func quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) || !strconv.CanBackquote(s) {
		return strconv.QuoteToASCII(s)
	}
	return `"` + s + `"`
}
