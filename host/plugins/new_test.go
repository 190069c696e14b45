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

// The SDK that came with relay takes the place of one that can't be fetched, where relay was
// built and where it was installed.
func TestNewWithOwnSDK(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	root, _ := filepath.Abs("../..")
	installed := t.TempDir()
	for program, sdk := range map[string]string{filepath.Join(root, "bin", "relay"): root, filepath.Join(installed, "bin", "relay"): filepath.Join(installed, "share", "relay")} {
		if err := os.MkdirAll(filepath.Join(sdk, "sdk"), 0o755); err != nil {
			t.Fatal(err)
		}
		if sdk != root {
			if err := os.CopyFS(filepath.Join(sdk, "sdk"), os.DirFS("../../sdk")); err != nil {
				t.Fatal(err)
			}
		}
		dir := filepath.Join(t.TempDir(), "relay-plugin-foo")
		_, err := New(context.Background(), NewOptions{Name: "foo", Kind: "builder", Lang: "go", Dir: dir, Version: "devel", Program: program})
		if mod, _ := os.ReadFile(filepath.Join(dir, "go.mod")); !strings.Contains(string(mod), "=> "+filepath.Join(sdk, "sdk")+"\n") {
			t.Errorf("go.mod has %q, and it says %v", mod, err)
		}
	}
}

// What is wrong with a command is said with the command that is right, in its own words.
func TestNewSaysWhatToType(t *testing.T) {
	for _, c := range []struct {
		o    NewOptions
		what string
	}{
		{NewOptions{Name: "foo", Kind: "provder", Lang: "go"}, "`relay plugin new foo --kind provider`"},
		{NewOptions{Name: "foo", Kind: "builder", Lang: "ruby"}, "`relay plugin new foo --kind builder`"},
		{NewOptions{Name: "foo", Kind: "provider", Lang: "rust"}, "`relay plugin new foo --kind provider --lang python`, or `relay plugin new foo --kind builder --lang rust`"},
	} {
		_, err := newPlan(c.o)
		if f, ok := diag.As(err); !ok || f.Fix != c.what {
			t.Errorf("%+v: it says %+v", c.o, err)
		}
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
