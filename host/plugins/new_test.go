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

// The SDK's own folder is as good as the clone that it is in, and of any other one the words are kept.
func TestNewFromClone(t *testing.T) {
	plan, err := newPlan(NewOptions{Name: "foo", Kind: "builder", Lang: "go", Checkout: "../../sdk"})
	if root, _ := filepath.Abs("../.."); err != nil || plan.Checkout != root {
		t.Errorf("sdk gives %q, %v", plan.Checkout, err)
	}
	_, err = newPlan(NewOptions{Name: "foo", Kind: "builder", Lang: "go", Checkout: t.TempDir()})
	if f, ok := diag.As(err); !ok || !strings.HasPrefix(f.Fix, "`relay plugin new foo --kind builder --sdk FOLDER`") {
		t.Errorf("it says %+v", err)
	}
}
