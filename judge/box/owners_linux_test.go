package box

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Where files of strangers lie in it, git is told not to look at owners.
func TestStrangersFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	own := owners{[]syscall.SysProcIDMap{{ContainerID: os.Getuid(), Size: 1}}, []syscall.SysProcIDMap{{ContainerID: os.Getgid(), Size: 1}}}
	if e := own.unfit(root); e != nil {
		t.Error(e)
	}
	if name := own.strangers(root); name != "" {
		t.Errorf("%q is mine", name)
	}
	other := owners{own.uids, []syscall.SysProcIDMap{{ContainerID: os.Getgid() + 1, Size: 10}}}
	if name := other.strangers(root); name == "" {
		t.Error("nothing of a stranger was found")
	}
	if e := other.unfit(root); e == nil || !e.Unsupported || !strings.Contains(e.Fix, "chgrp -R") {
		t.Errorf("%v", e)
	}
}
