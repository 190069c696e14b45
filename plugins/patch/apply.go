package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/paxiom/relay/sdk"
)

// checkModes refuses a patch that makes, removes or turns anything into something
// other than an ordinary file: a symbolic link, a submodule. git itself reads the
// patch, so that there is no second opinion on where a header ends.
func (g *git) checkModes(ctx context.Context, patch string) error {
	res, out, err := g.run(ctx, patch, "apply", "--summary")
	if err != nil {
		return err
	}
	if res.ExitCode != 0 {
		return unreadable(res)
	}
	for _, l := range strings.Split(out, "\n") {
		for _, mode := range modes(l) {
			if mode != "100644" && mode != "100755" {
				return refuse(fmt.Sprintf("the patch makes or changes something with mode %s; only files (100644, 100755) are allowed", mode),
					strings.TrimSpace(l))
			}
		}
	}
	return nil
}

func unreadable(res sdk.CLIResult) error {
	return refuse("git can't read the patch: "+firstError(res.Stderr), res.Stderr)
}

// summaryLine is a line of `git apply --summary`; names come after the modes.
var summaryLine = regexp.MustCompile(`^ (?:(?:create|delete) mode (\d+)|mode change (\d+) => (\d+)) `)

func modes(line string) []string {
	var found []string
	for _, m := range summaryLine.FindStringSubmatch(line + " ") {
		if m != "" && !strings.HasPrefix(m, " ") {
			found = append(found, m)
		}
	}
	return found
}

// files are the names that the patch writes, each once.
func (g *git) files(ctx context.Context, patch string) ([]string, error) {
	res, out, err := g.run(ctx, patch, "apply", "--numstat", "-z")
	if err != nil {
		return nil, err
	}
	if res.ExitCode != 0 {
		return nil, unreadable(res)
	}
	var names []string
	seen := map[string]bool{}
	for _, entry := range strings.Split(out, "\x00") {
		cols := strings.SplitN(entry, "\t", 3)
		if len(cols) == 3 && cols[2] != "" && !seen[cols[2]] {
			seen[cols[2]] = true
			names = append(names, cols[2])
		}
	}
	return names, nil
}

// check asks git whether the whole patch applies, and says which parts are not at
// the lines that they name.
func (g *git) check(ctx context.Context, patch string) (moved []string, err error) {
	res, _, err := g.run(ctx, patch, "apply", "--whitespace=nowarn", "--verbose", "--check")
	if err != nil {
		return nil, err
	}
	if res.ExitCode != 0 {
		return nil, refuse("the patch does not apply: "+firstError(res.Stderr), res.Stderr)
	}
	file := ""
	for _, l := range strings.Split(res.Stderr, "\n") {
		if name, ok := strings.CutPrefix(l, "Checking patch "); ok {
			file = strings.TrimSuffix(name, "...")
		}
		if m := offset.FindStringSubmatch(l); m != nil {
			moved = append(moved, fmt.Sprintf("%s: part %s of the patch was applied at line %s, %s away from the line it names", file, m[1], m[2], m[3]))
		}
	}
	return moved, nil
}

// offset is how git tells that a hunk matched elsewhere.
var offset = regexp.MustCompile(`^Hunk #(\d+) succeeded at (\d+) \(offset (-?\d+ lines?)\)`)

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
