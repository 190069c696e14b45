package box

import (
	"fmt"
	"strconv"
	"strings"
)

// Grants are what the processes of a box are held to when Held is set, for programs of
// strangers. Only Overlay can hold them.
type Grants struct {
	Held bool
	// Programs are the files, by absolute paths, that the direct child may execute,
	// besides itself. What those execute is their own affair.
	Programs []string
	// Read and Write are files and folders, besides the system's own programs and
	// libraries, the temporary folder, Spec.Binds and, where it is writable, Spec.Root.
	Read, Write []string
}

// LimitGrant is the name in [Exceeded] when a box was ended since it used what it was
// not granted; Path is that, as "program:/bin/sh".
const LimitGrant = "grant"

// Ungranted is the end of a box that used what it was not granted.
func Ungranted(kind, name string) *Exceeded {
	if len(name) > 200 {
		name = name[:200] + "…"
	}
	quoted := strconv.QuoteToASCII(name)
	return &Exceeded{Limit: LimitGrant, Path: kind + ":" + quoted[1:len(quoted)-1]}
}

// Ungranted is what was used without a grant, as a kind and a name; "" for any other
// limit.
func (e *Exceeded) Ungranted() (kind, name string) {
	if e == nil || e.Limit != LimitGrant {
		return "", ""
	}
	kind, name, _ = strings.Cut(e.Path, ":")
	return kind, name
}

func (e *Exceeded) grant() string {
	kind, name := e.Ungranted()
	switch kind {
	case "program":
		return fmt.Sprintf("it started %s, which it was not granted", name)
	case "host":
		return fmt.Sprintf("it connected to %s, which it was not granted", name)
	}
	return fmt.Sprintf("it used %s %s, which it was not granted", kind, name)
}

// systemFiles are what programs need to run at all. Of /etc only what says nothing
// about this machine's users and secrets.
var systemFiles = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store", "/proc",
	"/sys/fs/cgroup", "/sys/kernel/mm", "/sys/devices/system",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/alternatives",
	"/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ca-certificates.conf", "/etc/crypto-policies",
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/nsswitch.conf", "/etc/services", "/etc/protocols",
	"/etc/passwd", "/etc/group", "/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/mime.types", "/etc/locale.conf",
}

// deviceFiles are what a box has in /dev.
var deviceFiles = []string{"/dev"}
