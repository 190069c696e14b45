package plugins

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/diag"
)

// Where relay's module can't be fetched, the next command is one that needs none, and the
// folder is free for it.
func TestNewWithoutSDK(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOMODCACHE", t.TempDir())
	dir := filepath.Join(t.TempDir(), "relay-plugin-foo")
	_, err := New(context.Background(), NewOptions{Name: "foo", Kind: "builder", Lang: "go", Dir: dir, Version: "devel"})
	f, ok := diag.As(err)
	if !ok || !strings.Contains(f.Fix, "--sdk FOLDER") || strings.Contains(f.Why, "\n") {
		t.Errorf("it says %+v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is still there")
	}
}
