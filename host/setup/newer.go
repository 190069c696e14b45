package setup

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"golang.org/x/mod/semver"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/release"
)

// Newer gives relay's newest release, without its v; "" where own is no older. It is the one
// thing that relay asks a server about itself, and only when somebody asks for it.
func Newer(ctx context.Context, own string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	v, err := release.Known(ctx, "gh:paxiom/relay", "", "")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil // nothing is released
	case err != nil:
		return "", diag.Wrap(err, "", "github.com can't be asked for the newest release", "`relay version` shows this one")
	case semver.Compare(host.Canon(v.Newest), host.Canon(own)) <= 0:
		return "", nil
	}
	return v.Newest, nil
}
