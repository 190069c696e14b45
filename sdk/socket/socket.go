package socket

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Error is an address that is not connected to.
type Error struct {
	Network, Address string // as the plugin gave them
	Why              string
}

// Error gives the address and why it is not connected to, with control characters made
// visible.
func (e *Error) Error() string {
	return fmt.Sprintf("%.40q %.200q %s", e.Network, e.Address, e.Why)
}

// Folder is the folder in which one plugin makes its socket. It is known by what it is,
// not by its name: what the plugin puts into its place later is not looked at.
type Folder struct {
	path string
	dir  *os.File
}

// Open takes an empty folder of this user that nobody else may enter, before its plugin
// is started.
func Open(path string) (*Folder, error) {
	f, err := At(path)
	if err != nil {
		return nil, err
	}
	names, err := os.ReadDir(path)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s is not empty", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// At takes the folder of a plugin that a developer has started by hand.
func At(path string) (*Folder, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%q is not absolute", path)
	}
	dir, err := openDir(path)
	if err != nil {
		return nil, err
	}
	return &Folder{path: filepath.Clean(path), dir: dir}, nil
}

// Close lets go of the folder. It stays where it is.
func (f *Folder) Close() error { return f.dir.Close() }

// Name takes the two fields of a handshake line and gives the socket's name in the
// folder. The error is an *[Error] that says what is wrong with the address.
func (f *Folder) Name(network, address string) (string, error) {
	bad := func(why string) (string, error) { return "", &Error{network, address, why} }
	switch name := filepath.Base(address); {
	case network != "unix":
		return bad("is not a unix socket")
	case address == "" || address[0] == '@' || strings.ContainsRune(address, 0):
		return bad("is not a socket path")
	case address != filepath.Clean(address) || filepath.Dir(address) != f.path || name == ".." || name == ".":
		return bad("is not in the folder that was made for its socket")
	default:
		return name, nil
	}
}

// Dial connects to a socket in the folder. own reports whether a process belongs to the
// plugin; nil skips that question. The error is an *[Error] when there is something else
// than a socket of the plugin's.
func (f *Folder) Dial(ctx context.Context, name string, own func(pid int) bool) (net.Conn, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return nil, &Error{"unix", name, "is not a name of a socket"}
	}
	return dial(ctx, f.dir, name, filepath.Join(f.path, name), own)
}
