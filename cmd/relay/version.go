package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/setup"
)

// versionDoc is what relay knows about its own making, from what the linker has left in it.
// The version stands in the place of the document's own.
type versionDoc struct {
	host.Doc
	Version string `json:"version"` // of relay
	Commit  string `json:"commit,omitempty"`
	Time    string `json:"time,omitempty"`     // of the commit
	Dirty   bool   `json:"modified,omitempty"` // built from a changed work tree
	Digest  string `json:"digest,omitempty"`   // of the program, where the version doesn't name what it was built from
	Go      string `json:"go"`                 // Go's version
	OS      string `json:"os"`                 // operating system
	Arch    string `json:"arch"`               // processor architecture
	Newest  string `json:"newest,omitempty"`   // with --check: the newest release, where this one is older
}

func version() versionDoc {
	v := versionDoc{Doc: host.Doc{Kind: "relay.version", Version: 1}, Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Dirty = s.Value == "true"
		}
	}
	return v
}

// line is what --version prints: the version, with the commit where it is known.
func (v versionDoc) line() string {
	s := "relay " + v.Version
	if len(v.Commit) >= 12 {
		s += " (" + v.Commit[:12]
		if v.Dirty {
			s += ", modified"
		}
		s += ")"
	}
	return s
}

// ownDigest is "" where the program can't be read.
func ownDigest() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(self)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

type versionOptions struct {
	app   *app
	check bool
}

func newVersionCmd(a *app) *cobra.Command {
	o := &versionOptions{app: a}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print relay's version, commit and platform",
		Long:    "Print relay's version, commit and platform. Only --check asks a server, github.com, for\nthe newest release.",
		Example: "relay version\nrelay version --check",
		GroupID: groupSetup,
		Args:    noArgs,
		RunE:    runE(o, runVersion),
	}
	cmd.Flags().BoolVar(&o.check, "check", false, "ask github.com whether there is a newer release")
	return cmd
}

func runVersion(ctx context.Context, o *versionOptions) (err error) {
	v := version()
	if v.Version == "devel" || v.Dirty {
		v.Digest = ownDigest()
	}
	if o.check {
		if v.Newest, err = setup.Newer(ctx, v.Version); err != nil {
			return err
		}
	}
	return o.app.done(v, nil, func(p *printer) {
		p.linef("%s", v.line())
		p.linef("%s %s/%s", v.Go, v.OS, v.Arch)
		if v.Newest != "" {
			p.linef("%s is there: https://github.com/paxiom/relay/releases", host.Safe(v.Newest))
		} else if o.check {
			p.linef("this is the newest release")
		}
	})
}
