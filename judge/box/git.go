package box

import (
	"strconv"
	"strings"
)

// Git remembers of each file who owns it, its inode and when that changed, and reads the
// whole file again when one of them differs. Files of users and groups that a box does
// not have seem to be nobody's, and copies have inodes of their own: the first `git
// status` of an agent would read all of them. There, git in the box is told to compare
// sizes and times of modification alone. It then misses only what keeps both, and the
// judge does not ask git.

// WithGitSetting adds a setting for git to an environment.
func WithGitSetting(env []string, name, value string) []string {
	count := 0
	var out []string
	for _, kv := range env {
		if n, ok := strings.CutPrefix(kv, "GIT_CONFIG_COUNT="); ok {
			count, _ = strconv.Atoi(n)
			continue
		}
		out = append(out, kv)
	}
	n := strconv.Itoa(count)
	return append(out, "GIT_CONFIG_COUNT="+strconv.Itoa(count+1), "GIT_CONFIG_KEY_"+n+"="+name, "GIT_CONFIG_VALUE_"+n+"="+value)
}
