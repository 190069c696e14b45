package tick

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// checkPatch refuses a patch that would make anything but a plain file: every mode
// that it names must be 100644 or 100755. Names are not read; where a patch writes
// is judged by what it did in the box.
func checkPatch(patch string) error {
	n := 0
	for line := range strings.Lines(patch) {
		n++
		if mode, ok := patchMode(line); ok && mode != 0o100644 && mode != 0o100755 {
			return fmt.Errorf("line %d of the patch names the file mode %o; only 100644 and 100755 may be made (no symbolic links, no submodules)", n, mode)
		}
	}
	return nil
}

// patchMode gives the mode that a header line of a patch names. Lines of a hunk
// begin with a space, "+", "-" or "\" and are never taken for one. What git would
// not read as a number is no mode: git refuses the patch, or it is prose.
func patchMode(line string) (uint64, bool) {
	digits := ""
	for _, key := range []string{"old mode ", "new mode ", "new file mode ", "deleted file mode "} {
		if rest, ok := strings.CutPrefix(line, key); ok {
			digits = rest
		}
	}
	if rest, ok := strings.CutPrefix(line, "index "); ok { // index 1234567..89abcde 120000
		if f := strings.Fields(rest); len(f) == 2 && strings.Contains(f[0], "..") {
			digits = f[1]
		}
	}
	digits = strings.TrimLeft(strings.TrimSpace(digits), "+-")
	end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '7' })
	if end >= 0 {
		digits = digits[:end]
	}
	if digits == "" {
		return 0, false
	}
	mode, err := strconv.ParseUint(digits, 8, 64)
	if err != nil {
		mode = math.MaxUint64
	}
	return mode, true
}
