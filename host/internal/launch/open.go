package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/paxiom/relay/host/internal/workspace"
)

// open gives the plugin's file, checked: what is executed later is this open file,
// so that nothing which happens to the path afterwards matters.
func (c *Config) open() (*os.File, *Error) {
	if c.Base != "" {
		if _, err := os.Lstat(c.Path); err == nil {
			if bad := UnsafeFolder(c.Base, c.Path); bad != nil {
				e := c.fileError(Unsafe, bad.Why, nil)
				e.Fix = bad.Fix
				return nil, e
			}
		}
	}
	// O_NONBLOCK: a pipe in the file's place must not hold us up.
	f, err := os.OpenFile(c.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, c.fileError(Absent, fmt.Sprintf("there is no file %s", c.Path), err)
	case errors.Is(err, syscall.ELOOP):
		return nil, c.fileError(Unsafe, fmt.Sprintf("%s is a symbolic link; a plugin must be a file", c.Path), err)
	case err != nil:
		return nil, c.fileError(Unsafe, err.Error(), err)
	}
	e := c.check(f)
	if e != nil {
		f.Close()
		return nil, e
	}
	return f, nil
}

func (c *Config) check(f *os.File) *Error {
	st, err := f.Stat()
	if err != nil {
		return c.fileError(Unsafe, err.Error(), err)
	}
	if why := unsafe(c.Path, st); why != "" {
		e := c.fileError(Unsafe, c.Path+" "+why, nil)
		if fix := ownFix(c.Path, st); fix != "" {
			e.Fix = fix
		}
		return e
	}
	got, err := HashFile(f)
	if err != nil {
		return c.fileError(Unsafe, err.Error(), err)
	}
	var magic [2]byte
	if f.ReadAt(magic[:], 0); string(magic[:]) == "#!" {
		return c.execError(syscall.ENOEXEC) // its interpreter could not open it
	}
	if want := strings.ToLower(strings.TrimPrefix(c.SHA256, "sha256:")); got != want {
		return c.fileError(Differs, fmt.Sprintf("%s has the SHA-256 %s; pinned is %s", c.Path, short(got), short(want)), nil)
	}
	return nil
}

// unsafe says why a file must not be executed; "" when it may be.
func unsafe(path string, st fs.FileInfo) string {
	if !st.Mode().IsRegular() {
		return fmt.Sprintf("is not a regular file (%v)", st.Mode().Type())
	}
	return others(path, st)
}

// others says who else than this user, or root, decides what lies there; "" when nobody does.
func others(path string, st fs.FileInfo) string {
	switch workspace.Others(path, st) {
	case workspace.Shared:
		return fmt.Sprintf("can be written by others (mode %04o)", st.Mode().Perm())
	case workspace.Foreign:
		return "belongs to another user"
	}
	return ""
}

// HashFile gives the SHA-256 of what an open file holds, in hexadecimal digits.
func HashFile(f *os.File) (string, error) {
	h := sha256.New()
	// The wrapper hides other interfaces of the file, so that the buffer is used.
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 256<<10)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func short(hash string) string {
	if hash == "" {
		return "nothing"
	}
	return clip(hash, 16)
}
