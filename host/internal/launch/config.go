package launch

import (
	"io"
	"os"
	"time"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/paxiom/relay/host/internal/redact"
)

// Config says what to start and how. Name, Path, SHA256, Handshake and Versions are
// required.
type Config struct {
	// Name is the plugin's name and version, for texts.
	Name string
	// Path is the absolute path of the plugin's file.
	Path string
	// Base is a folder above Path that is looked at too, with all between: nobody else
	// may be able to put another file there. "" looks at the file only.
	Base string
	// SHA256 is the pinned hash of that file, 64 hexadecimal digits, with or without
	// the prefix "sha256:".
	SHA256 string
	// Reinstall says how to get the right file, for texts: a command in backticks
	// first. "" points to `relay plugin list`.
	Reinstall string
	// Attach connects to a plugin that waits instead of starting one; Path, Base and SHA256
	// do not matter then.
	Attach *Attached
	// Env is the whole environment, as [Env] makes it; TMPDIR is set on top.
	Env []string
	// Dir is the working directory; "" is an empty private folder.
	Dir string
	// SocketDir is where a private folder for the plugin's sockets is made: absolute,
	// at most [MaxSocketDir] bytes, and nobody else's. "" is [DefaultSocketDir]. In a
	// box it must be bound, writable, at the same path.
	SocketDir string
	// Stderr receives what the plugin writes on standard error and, after the
	// handshake, on standard output; secrets masked, up to StderrLimit bytes. nil
	// throws it away. It is not written any more after Stop has returned.
	Stderr io.Writer
	// StderrLimit is in bytes; 0 means 16 MiB.
	StderrLimit int64
	// OutputLimit is how much the plugin may write in all, in bytes; it is ended when
	// it writes more. 0 is any amount.
	OutputLimit int64
	// Secrets are masked in Stderr and in every text of this package.
	Secrets *redact.Set
	// Start is what starts the process; nil executes it in a process group of its own.
	Start Starter
	// Handshake and Versions are go-plugin's, from package sdk.
	Handshake goplugin.HandshakeConfig
	Versions  map[int]goplugin.PluginSet
	// StartTimeout bounds the time to the handshake; 0 means 10 s.
	StartTimeout time.Duration
	// MaxMessage is the largest message that is accepted, in bytes; 0 means 2 MiB.
	MaxMessage int
}

// StartSpec is what a [Starter] must run: Exe, with nothing looked up by name. The
// files stay the caller's, which closes its copies when the Starter has returned.
type StartSpec struct {
	// Exe is the checked file, open for reading.
	Exe *os.File
	// Path is where Exe was opened, for texts; it must not be opened again.
	Path string
	Argv []string
	Env  []string
	Dir  string
	// Private is the folder of the sockets and temporary files, and of Dir when that
	// was not given. It lies in Config.SocketDir.
	Private               string
	Stdin, Stdout, Stderr *os.File
}

// Process is a started process. Wait is called once.
type Process interface {
	// Pid is the process id as this process sees it.
	Pid() int
	// Wait returns when the process has ended; its error says how, nil for status 0.
	Wait() error
	// Kill ends the process and all that it started, at once. It may be called at
	// any time, also after Wait.
	Kill()
}

// Starter starts a process. A box gives one, so that the plugin lives in the box.
type Starter func(StartSpec) (Process, error)
