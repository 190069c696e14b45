package sdk

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A program may write more than a usual pipe holds before anybody reads.
func TestWiden(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	widen(w)
	size := 0
	conn, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Control(func(fd uintptr) { size, err = unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0) }); err != nil {
		t.Fatal(err)
	}
	if size < wide {
		t.Skipf("the kernel allows this user no pipe of %d bytes: %d (%v); /proc/sys/fs/pipe-max-size and pipe-user-pages-soft", wide, size, err)
	}
	if err := w.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, wide)); n != wide || err != nil {
		t.Errorf("%d bytes fit: %v", n, err)
	}
}
