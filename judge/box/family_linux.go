package box

import (
	"bytes"
	"os"
	"slices"
	"strconv"
)

// Family are the processes that descend from one, and their process groups. A box's
// child began a session of its own, so none of the groups is anybody else's.
func Family(of int) (pids, groups []string) {
	children, group := map[string][]string{}, map[string]string{}
	names, _ := os.ReadDir("/proc")
	for _, e := range names {
		name := e.Name()
		if name[0] < '1' || name[0] > '9' {
			continue
		}
		line, err := os.ReadFile("/proc/" + name + "/stat")
		at := bytes.LastIndexByte(line, ')')
		if err != nil || at < 0 {
			continue
		}
		// A zombie's children were given to another one.
		if fields := bytes.Fields(line[at+1:]); len(fields) > 2 && fields[0][0] != 'Z' {
			parent := string(fields[1])
			children[parent], group[name] = append(children[parent], name), string(fields[2])
		}
	}
	next := []string{strconv.Itoa(of)}
	for len(next) > 0 {
		below := children[next[0]]
		pids, next = append(pids, below...), append(next[1:], below...)
	}
	for _, pid := range pids {
		if !slices.Contains(groups, group[pid]) {
			groups = append(groups, group[pid])
		}
	}
	return pids, groups
}
