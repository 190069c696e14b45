package about

import (
	"os"
	"runtime"
	"runtime/debug"
)

// Build is how a program was made. Version has its place in the document around it.
type Build struct {
	Version string `json:"-"`
	Commit  string `json:"commit,omitempty"`
	Time    string `json:"time,omitempty"`
	Dirty   bool   `json:"modified,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func init() {
	if len(os.Args) != 2 || os.Args[1] != "--version" {
		return
	}
	if _, err := os.Stdout.WriteString("relay " + Read().String() + "\n"); err == nil {
		os.Exit(0)
	}
}

// Read gives what the linker has left in this program.
func Read() Build {
	b := Build{Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		b.Version = m
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	return b
}

// String is the version on one line, with the commit where it is known.
func (b Build) String() string {
	s := b.Version
	if len(b.Commit) >= 12 {
		s += " (" + b.Commit[:12]
		if b.Dirty {
			s += ", modified"
		}
		s += ")"
	}
	return s
}
