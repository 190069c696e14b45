package box_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/paxiom/relay/judge/box"

	"github.com/paxiom/relay/judge/git"
)

// BenchmarkBox sets what a judged build costs beside one warm git status of the
// same repository: entering a box, changing some files in it, reading them back
// and discarding the layer.
func BenchmarkBox(b *testing.B) {
	for _, files := range []int{100, 10_000, 100_000} {
		if testing.Short() && files > 10_000 {
			continue
		}
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) { benchTree(b, files) })
	}
}

func benchTree(b *testing.B, files int) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	check(b, err)
	root := filepath.Join(dir, "repo")
	for i := range files {
		at := filepath.Join(root, fmt.Sprintf("d%03d", i%1000/10), fmt.Sprintf("e%d", i%10))
		if i < 1000 {
			check(b, os.MkdirAll(at, 0o755))
		}
		check(b, os.WriteFile(filepath.Join(at, fmt.Sprintf("f%d.txt", i)), fmt.Appendf(nil, "file %d\nwith a second line\n", i), 0o644))
	}
	check(b, os.Mkdir(dir+"/home", 0o755))
	b.Setenv("HOME", dir+"/home")
	benchShell(b, root, "git init -q -b main; git config gc.auto 0; git add -A; git -c user.name=t -c user.email=t@t commit -qm base; git pack-refs --all; git repack -qad; git status >/dev/null")
	git, err := git.Open(b.Context(), root)
	check(b, err)
	b.Run("git-status", func(b *testing.B) {
		for b.Loop() {
			_, err := git.Status(b.Context())
			check(b, err)
		}
	})
	for _, changed := range []int{0, 12, 500} {
		if changed > files {
			continue
		}
		script := fmt.Sprintf("find d* -type f | head -n %d | while read f; do echo x >> $f; done", changed)
		if changed == 0 {
			script = "true"
		}
		b.Run(fmt.Sprintf("box+judge+discard/changed=%d", changed), func(b *testing.B) {
			for b.Loop() {
				benchBuild(b, dir, git, script, changed)
			}
		})
	}
}

// benchBuild is one build; the time that the script takes is not counted.
func benchBuild(b *testing.B, dir string, git *git.Repo, script string, changed int) {
	box, err := New(Spec{Root: git.Root, StateDir: dir + "/state", Layer: dir + "/state/layer"})
	check(b, err)
	if changed > 0 {
		b.StopTimer()
		benchRun(b, box, script)
		b.StartTimer()
	}
	benchRun(b, box, "true")
	got, err := box.Touched(b.Context(), git)
	check(b, err)
	if len(got.Changes) != changed {
		b.Fatalf("%d changes instead of %d", len(got.Changes), changed)
	}
	check(b, box.Discard())
}

func benchRun(b *testing.B, box *Box, script string) {
	run, err := box.Start(Proc{Argv: []string{"sh", "-c", script}, Env: os.Environ()})
	check(b, err)
	state, err := run.Wait()
	check(b, err)
	if !state.OK() {
		b.Fatalf("%+v", state)
	}
}

func benchShell(b *testing.B, dir, script string) {
	proc, err := os.StartProcess("/bin/sh", []string{"sh", "-ec", script}, &os.ProcAttr{Dir: dir, Env: os.Environ(), Files: []*os.File{nil, os.Stdout, os.Stderr}})
	check(b, err)
	state, err := proc.Wait()
	check(b, err)
	if !state.Success() {
		b.Fatal(state)
	}
}
