package tick

import (
	"strings"
	"testing"
)

func TestCheckPatch(t *testing.T) {
	t.Parallel()
	good := []string{
		"",
		"hello",
		"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
		"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new file mode 120000\n",
		"From: me\nnew mode of thinking\nindex of things\n",
		"index 0000000..2e65efe 100644\n",
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-- a/old mode 120000\n++ b\n",
	}
	for _, p := range good {
		if err := checkPatch(p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	bad := []string{
		"new file mode 120000\n",
		"new file mode 160000",
		"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n",
		"deleted file mode 120000\n",
		"index 0000000..1234567 160000\n",
		"new file mode 0120000\n",
		"new file mode  120000 \r\n",
		"new mode 104755\n",
		"new mode 40000\n",
		"new mode 777777777777777777777777777777\n",
	}
	for _, p := range bad {
		if checkPatch(p) == nil {
			t.Errorf("%q passes", p)
		}
	}
}

func FuzzCheckPatch(f *testing.F) {
	f.Add("diff --git a/x b/x\nnew file mode 120000\n")
	f.Add("index 1..2 100644\nold mode +0100755\n")
	f.Fuzz(func(t *testing.T, patch string) {
		err := checkPatch(patch)
		if err == nil && strings.HasPrefix(patch, "new file mode 120000\n") {
			t.Fatal("a link passes")
		}
		if err != nil && (len(err.Error()) > 300 || !strings.Contains(patch, "mode ") && !strings.Contains(patch, "index ")) {
			t.Fatal(err)
		}
	})
}
