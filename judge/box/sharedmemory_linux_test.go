package box

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// Memory that is shared without a file counts.
func TestSharedMemoryCounts(t *testing.T) {
	const size = 64 << 20
	self := usage{pids: []string{strconv.Itoa(os.Getpid())}}
	before := self.private()
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	for i := 0; i < size; i += 4096 {
		m[i] = 1
	}
	if got := self.private() - before; got < size/2 {
		t.Errorf("%d bytes more, of %d", got, size)
	}
}
