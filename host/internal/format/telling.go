package format

import (
	"regexp"
	"strings"
)

// What the line that says why a program failed looks like, and what runners print around it.
var (
	complaint = regexp.MustCompile(`(^|\W)([A-Z]\w*(Error|Exception)|panic|error(\[\w+\])?|assertion .*failed)(:|$)|\([\w:]*(Error|Exception)\)$`)
	frame     = regexp.MustCompile(`^([^\pL\pN]*|> .*|\{.*|make(\[\d+\])?: .*|ninja: .*|npm (error|ERR!|notice|warn)\b.*|exit status \d+|` +
		`FAIL(ED)?( \(.*\)|\s\S+(\s[\d.]+m?s)?| .* > .*)?|ok\s.*|\s+at .*|\s+from \S+:\d+:in .*|#\d+ .*|Stack trace:|\s+thrown in .*|Node\.js v[\d.]+|note: .*|[>\s]*\d+ \|.*|# .*|=+ .* =+|test result: .*|failures:|\s+\S+::\S+|` +
		`error: (test failed, to rerun|Recipe|could not compile).*|error Command failed.*|rake aborted!|Command failed with status.*|Tasks: .*|\(See full trace.*|` +
		`Ran \d+ tests?\b.*|\s*(Tests?|Test Files|Test Suites|Snapshots|Time|Duration|Start at|Ran all)\b.*|\s*ELIFECYCLE.*|Result: FAIL|Files=.*|\d+ [\w ]*(passed|failed|failures)\b.*)$`)
)

// Telling is the one line of a failed program's output that says best why it failed: the first
// complaint, or else the last line that is no runner's frame.
func Telling(output string) string {
	first, last := "", ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \r\n\t")
		switch {
		case frame.MatchString(line):
			if first == "" && !strings.HasPrefix(line, "> ") {
				first = line
			}
		case complaint.MatchString(line):
			return strings.TrimSpace(line)
		default:
			last = line
		}
	}
	if last == "" {
		last = first
	}
	return strings.TrimSpace(last)
}
