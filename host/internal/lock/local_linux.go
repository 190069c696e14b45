package lock

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// localTypes are file systems that belong to one kernel. Network and cluster file
// systems, FUSE and what a virtual machine shares with its host are not among them.
var localTypes = []int64{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC,
	unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */}

// local reports whether only processes of this kernel can have the file open.
func local(f *os.File) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && slices.Contains(localTypes, int64(st.Type))
}
