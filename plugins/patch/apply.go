package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/paxiom/relay/sdk"
)

// inspection is what git says of a patch before it is applied.
type inspection struct {
	files []string // the names that it writes, each once
	moved []string // for people: the parts that are not at the lines they name
}

// inspect asks git whether the whole patch applies, and what is in it. git itself
// reads the patch, so that there is no second opinion on where a header ends.
func (g *git) inspect(ctx context.Context, patch string) (inspection, error) {
	if err := g.refuseOutside(ctx, patch); err != nil {
		return inspection{}, err
	}
	res, out, err := g.run(ctx, patch, "apply", "--whitespace=nowarn", "--verbose", "--check", "--summary", "--numstat", "-z")
	if err != nil {
		return inspection{}, err
	}
	// Names with their counts, each with a NUL at its end, then lines on what is made.
	entries := strings.Split(out, "\x00")
	last := len(entries) - 1
	if err := checkModes(entries[last]); err != nil {
		return inspection{}, err
	}
	if res.ExitCode != 0 {
		return inspection{}, refuse("the patch does not apply: "+firstError(res.Stderr), res.Stderr)
	}
	return inspection{files: names(entries[:last]), moved: offsets(res.Stderr)}, nil
}

// refuseOutside refuses a patch whose headers name absolute paths, of which git would take
// the first "/" away, or paths with "..". Patches in git's own form have none of the first, and are not always
// readable so.
func (g *git) refuseOutside(ctx context.Context, patch string) error {
	for _, strip := range []string{"-p0", "-p1"} {
		res, out, err := g.run(ctx, patch, "apply", strip, "--numstat", "-z")
		if err != nil {
			return err
		}
		if res.ExitCode != 0 {
			continue
		}
		for _, name := range names(strings.Split(out, "\x00")) {
			switch {
			case strings.HasPrefix(name, "/") && strip == "-p0":
				return refuse(fmt.Sprintf("the patch names the absolute path %q; paths are relative to the repository, after a/ and b/", name), "")
			case slices.Contains(strings.Split(name, "/"), "..") && strip == "-p1":
				return refuse(fmt.Sprintf("the patch names %q; a path has no \"..\" in it", name), "")
			}
		}
	}
	return nil
}

// summaryLine is a line of `git apply --summary`; a name comes after the modes, so
// that no name can hide one.
var summaryLine = regexp.MustCompile(`(?m)^ (?:(?:create|delete) mode (\d+)|mode change (\d+) => (\d+)) `)

// checkModes refuses a patch that makes, removes or turns anything into something
// other than an ordinary file: a symbolic link, a submodule.
func checkModes(summary string) error {
	for _, m := range summaryLine.FindAllStringSubmatch(summary, -1) {
		for _, mode := range m[1:] {
			if mode != "" && mode != "100644" && mode != "100755" {
				return refuse(fmt.Sprintf("the patch makes or changes something with mode %s; only files (100644, 100755) are allowed", mode),
					strings.TrimSpace(summary))
			}
		}
	}
	return nil
}

// names takes the names out of the entries of `git apply --numstat -z`.
func names(entries []string) []string {
	var names []string
	for _, e := range entries {
		cols := strings.SplitN(e, "\t", 3)
		if len(cols) == 3 && !slices.Contains(names, cols[2]) {
			names = append(names, cols[2])
		}
	}
	return names
}

// offset is how git tells that a hunk matched elsewhere.
var offset = regexp.MustCompile(`^Hunk #(\d+) succeeded at (\d+) \(offset (-?\d+ lines?)\)`)

func offsets(verbose string) []string {
	var moved []string
	file := ""
	for _, l := range strings.Split(verbose, "\n") {
		if name, ok := strings.CutPrefix(l, "Checking patch "); ok {
			file = strings.TrimSuffix(name, "...")
		}
		if m := offset.FindStringSubmatch(l); m != nil {
			moved = append(moved, fmt.Sprintf("%s: part %s of the patch was applied at line %s, %s away from the line it names", file, m[1], m[2], m[3]))
		}
	}
	return moved
}

// apply changes the tree: all of the patch, or nothing unless the disk fails.
func (g *git) apply(ctx context.Context, patch string) error {
	res, _, err := g.run(ctx, patch, "apply", "--whitespace=nowarn")
	if err != nil {
		f := sdk.AsFailure(err)
		f.Effect = sdk.EffectUnknown // ended in the middle of its work
		return f
	}
	if res.ExitCode != 0 {
		return sdk.Fail(sdk.Internal, "git stopped in the middle of the patch: "+firstError(res.Stderr),
			sdk.Detail(res.Stderr), sdk.EffectChanged)
	}
	return nil
}

// firstError is the first line in which git names an error; what it was searching
// for is in the detail.
func firstError(stderr string) string {
	for _, l := range strings.Split(stderr, "\n") {
		for _, prefix := range []string{"error: ", "fatal: "} {
			if text, ok := strings.CutPrefix(l, prefix); ok && text != "while searching for:" {
				return strings.TrimSuffix(text, ` (allow with "--allow-empty")`)
			}
		}
	}
	return strings.TrimSpace(stderr)
}
