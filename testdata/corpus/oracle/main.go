// oracle: independent ground truth for the corpus. It never asks the repo's own git config anything.
//
//	oracle snap REPO            one quoted line per object of the repo (openat based walk, no PATH_MAX limit)
//	oracle cmp BEFORE AFTER     prints differences, exit 1 if any
//	oracle no-namespaces ARG... runs a program where no user namespace can be made, as in many containers
//	oracle task BASE TASK PATCH the JSON of a task: BASE, TASK over it, and the text of PATCH as its builder's patch
//	oracle script TEXT          what the replay provider answers to every call: the text of a file
//	oracle verdict FILE         verdict and code of a run's JSON, as {"verdict":…,"code":…}
//
// The last three are what jq would do, four times in each case, and takes 30 ms to begin with.
//
// Excluded: mtimes, .git/objects and .git/logs, ORIG_HEAD/FETCH_HEAD/COMMIT_EDITMSG, sharedindex.*, index bytes
// (the logical index goes in via run.sh: git ls-files --debug with a clean GIT_DIR), runner runtime files under relais/.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

var lines []string
var rootDev uint64

func volatile(p string) bool {
	switch p {
	case ".git/index", ".git/logs", ".git/objects", ".git/ORIG_HEAD", ".git/FETCH_HEAD", ".git/COMMIT_EDITMSG", ".git/gc.log", ".git/AUTO_MERGE",
		"relais/lock.json", "relais/STATE.json", "relais/TASK.json", "relais/REPORT.json", "relais/REPORT.md", "relais/BLOCKED.json",
		"relais/STATE.json.tmp", "relais/.tmp", "relais/BUILDER_RESULT.json", "relais/run.lock",
		// what DESIGN section 8 adds to the seed's files
		"relais/usage.jsonl", "relais/journal", "relais/logs", "relais/queue.md",
		// remembered failures, so that the same task is not built again; runs of the loop; a stop request
		"relais/stuck.json", "relais/runs", "relais/stop.json",
		// what relays at work say of themselves, and what usage.jsonl adds up to
		"relais/live":
		return true
	}
	// what relay believes lies in git's folder, of each work tree and submodule
	if p == ".git/relay" || strings.HasSuffix(p, "/relay") && (strings.HasPrefix(p, ".git/worktrees/") || strings.HasPrefix(p, ".git/modules/")) {
		return true
	}
	if strings.HasPrefix(p, ".git/sharedindex.") {
		return true
	}
	// with the home below the repository: relay's own folders in it
	for _, own := range []string{".home/.cache", ".home/.local/state"} {
		if p == own || p == own+"/relay" || strings.HasPrefix(p, own+"/relay/") {
			return true
		}
	}
	// new history runs are the runner's; run-0 existed before and is sacred
	if strings.HasPrefix(p, "relais/history/") && !strings.HasPrefix(p, "relais/history/run-0") {
		return true
	}
	// a linked worktree's private dir keeps its own index/logs
	if strings.HasPrefix(p, ".git/worktrees/") && (strings.HasSuffix(p, "/index") || strings.HasSuffix(p, "/logs") || strings.HasSuffix(p, "/ORIG_HEAD")) {
		return true
	}
	if strings.HasPrefix(p, ".git/modules/") && (strings.HasSuffix(p, "/index") || strings.HasSuffix(p, "/logs") || strings.HasSuffix(p, "/objects") || strings.HasSuffix(p, "/ORIG_HEAD")) {
		return true
	}
	return false
}

func xattrs(fdpath string) string {
	buf := make([]byte, 4096)
	n, _, e := syscall.Syscall(syscall.SYS_LLISTXATTR, uintptr(unsafe.Pointer(cstr(fdpath))), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)))
	if e != 0 || n == 0 {
		return ""
	}
	return strings.TrimRight(strings.ReplaceAll(string(buf[:n]), "\x00", ","), ",")
}
func cstr(s string) *byte { b := append([]byte(s), 0); return &b[0] }

func flags(fdpath string) uint32 {
	f, err := os.OpenFile(fdpath, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	var fl uint32
	syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), 0x80086601, uintptr(unsafe.Pointer(&fl)))
	return fl & 0x30 // immutable | append
}

func walk(dir *os.File, rel string) {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		lines = append(lines, strconv.Quote(rel)+" READDIR-ERROR")
	}
	sort.Strings(names)
	for _, n := range names {
		p := n
		if rel != "" {
			p = rel + "/" + n
		}
		if volatile(p) {
			continue
		}
		q := fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), n)
		var st syscall.Stat_t
		if err := syscall.Lstat(q, &st); err != nil {
			lines = append(lines, strconv.Quote(p)+" LSTAT "+err.Error())
			continue
		}
		d := ""
		if st.Dev != rootDev {
			d = " FOREIGN-DEV"
		}
		if x := xattrs(q); x != "" {
			d += " xattr=" + x
		}
		mode := st.Mode & 07777
		switch st.Mode & syscall.S_IFMT {
		case syscall.S_IFDIR:
			if fl := flags(q); fl != 0 {
				d += fmt.Sprintf(" fl=%x", fl)
			}
			lines = append(lines, fmt.Sprintf("%s dir %04o%s", strconv.Quote(p), mode, d))
			f, err := os.OpenFile(q, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
			if err != nil {
				lines = append(lines, strconv.Quote(p)+" OPEN "+err.Error())
				continue
			}
			walk(f, p)
			f.Close()
		case syscall.S_IFREG:
			if fl := flags(q); fl != 0 {
				d += fmt.Sprintf(" fl=%x", fl)
			}
			if st.Nlink != 1 {
				d += fmt.Sprintf(" nlink=%d", st.Nlink)
			}
			h := sha256.New()
			if f, err := os.Open(q); err == nil {
				if st.Size > 256<<20 {
					io.CopyN(h, f, 1<<20)
					fmt.Fprintf(h, "big %d %d", st.Size, st.Blocks)
				} else {
					io.Copy(h, f)
				}
				f.Close()
			}
			lines = append(lines, fmt.Sprintf("%s file %04o %d %s%s", strconv.Quote(p), mode, st.Size, hex.EncodeToString(h.Sum(nil)[:12]), d))
		case syscall.S_IFLNK:
			t, _ := os.Readlink(q)
			lines = append(lines, fmt.Sprintf("%s link %s%s", strconv.Quote(p), strconv.Quote(t), d))
		default:
			lines = append(lines, fmt.Sprintf("%s special %o rdev=%x%s", strconv.Quote(p), st.Mode, st.Rdev, d))
		}
	}
}

func load(p string) map[string]string {
	m := map[string]string{}
	f, err := os.Open(p)
	if err != nil {
		return m
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 1<<20), 1<<26)
	for s.Scan() {
		l := s.Text()
		pre, err := strconv.QuotedPrefix(l)
		if err != nil {
			m[l] = l
			continue
		}
		m[pre] = m[pre] + l[len(pre):]
	}
	return m
}

// noNamespaces runs a program in a user namespace that knows the same users and has none below it.
func noNamespaces(args []string) {
	same := []syscall.SysProcIDMap{{Size: 65536}}
	cmd := exec.Command("/proc/self/exe", append([]string{"no-more"}, args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: same, GidMappings: same, GidMappingsEnableSetgroups: true}
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Println(err)
		os.Exit(3)
	}
	os.Exit(max(cmd.ProcessState.ExitCode(), 0))
}

// read gives a file's text, "" of one that isn't there.
func read(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// object is the JSON object of a text, with its numbers as they are written; empty when it is none.
func object(text string) map[string]any {
	m := map[string]any{}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&m) != nil || m == nil {
		return map[string]any{}
	}
	return m
}

// merge puts what b has over a, object by object.
func merge(a, b map[string]any) map[string]any {
	for k, v := range b {
		under, _ := a[k].(map[string]any)
		over, ok := v.(map[string]any)
		if ok && under != nil {
			a[k] = merge(under, over)
		} else {
			a[k] = v
		}
	}
	return a
}

// task fails on a case's own mistake: the base alone would be another case.
func task(base, over, patch string) map[string]any {
	if text := read(over); text != "" && !json.Valid([]byte(text)) {
		fmt.Fprintln(os.Stderr, over+" is not JSON")
		os.Exit(3)
	}
	t := merge(object(read(base)), object(read(over)))
	if _, err := os.Stat(patch); err == nil {
		t = merge(t, map[string]any{"builder": map[string]any{"patch": read(patch)}})
	}
	if t["builder"] == nil {
		delete(t, "builder")
	}
	return t
}

// verdict finds the two words of a run's result, or of a report alone.
func verdict(path string) {
	m := object(read(path))
	if r, ok := m["report"].(map[string]any); ok {
		m = merge(m, r)
	}
	if m["verdict"] != nil {
		say(map[string]any{"verdict": m["verdict"], "code": m["code"]})
	}
}

func say(v any) {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func main() {
	switch os.Args[1] {
	case "task":
		say(task(os.Args[2], os.Args[3], os.Args[4]))
	case "script":
		say(map[string]any{"version": 1, "calls": []any{map[string]any{"when": map[string]any{"role": "orchestrator"}, "times": -1, "answer": map[string]any{"text": read(os.Args[2])}}}})
	case "verdict":
		verdict(os.Args[2])
	case "no-namespaces":
		noNamespaces(os.Args[2:])
	case "no-more":
		err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0)
		if err == nil {
			var path string
			if path, err = exec.LookPath(os.Args[2]); err == nil {
				err = syscall.Exec(path, os.Args[2:], os.Environ())
			}
		}
		fmt.Println(err)
		os.Exit(3)
	case "snap":
		f, err := os.OpenFile(os.Args[2], os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
		if err != nil {
			fmt.Println("ROOT " + err.Error())
			return
		}
		var st syscall.Stat_t
		syscall.Fstat(int(f.Fd()), &st)
		rootDev = st.Dev
		fmt.Printf("\".\" dir %04o\n", st.Mode&07777)
		walk(f, "")
		w := bufio.NewWriter(os.Stdout)
		for _, l := range lines {
			fmt.Fprintln(w, l)
		}
		w.Flush()
	case "cmp":
		a, b := load(os.Args[2]), load(os.Args[3])
		only := ""
		if len(os.Args) > 4 {
			only = os.Args[4]
		}
		var out []string
		keep := func(k string) bool { return only == "" || strings.HasPrefix(k, only) }
		for k, v := range a {
			if w, ok := b[k]; keep(k) && !ok {
				out = append(out, "- "+k+v)
			} else if keep(k) && w != v {
				out = append(out, "~ "+k+v+" => "+w)
			}
		}
		for k, v := range b {
			if _, ok := a[k]; keep(k) && !ok {
				out = append(out, "+ "+k+v)
			}
		}
		sort.Strings(out)
		for i, l := range out {
			if i == 8 {
				fmt.Printf("... %d more\n", len(out)-8)
				break
			}
			if len(l) > 220 {
				l = l[:220]
			}
			fmt.Println(l)
		}
		if len(out) > 0 {
			os.Exit(1)
		}
	}
}
