package sdk

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the program that RunCLI drives: SDK_TEST_AS names what it does.
const actAs = "SDK_TEST_AS"

func TestMain(m *testing.M) {
	if f, ok := actors[os.Getenv(actAs)]; ok {
		f()
		os.Exit(0)
	}
	must(os.Setenv("GORACE", "atexit_sleep_ms=0")) // with -race the actors would sleep 1 s before their exit
	os.Exit(m.Run())
}

var actors = map[string]func(){
	"echo":    func() { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"nothing": func() {},
	"status":  func() { fmt.Fprint(os.Stderr, strings.Repeat("x", 200<<10), "the end"); os.Exit(7) },
	"deaf":    func() { fmt.Println("did not read"); os.Exit(0) },
	"stdin":   func() { n, _ := io.Copy(io.Discard, os.Stdin); fmt.Println(n) },
	"silent":  func() { fmt.Println("working"); time.Sleep(time.Hour) },
	"suicide": func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); time.Sleep(time.Hour) },
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("working")
		time.Sleep(time.Hour)
	},
	"polite": func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("working")
		<-c
		fmt.Println("good bye")
	},
	"flood": func() {
		w := bufio.NewWriterSize(os.Stdout, 1<<20)
		for line := strings.Repeat("y", 1023) + "\n"; ; {
			if _, err := w.WriteString(line); err != nil {
				return
			}
		}
	},
	"long": func() {
		w := bufio.NewWriterSize(os.Stdout, 1<<20)
		for range 50 {
			_, _ = w.WriteString(strings.Repeat("z", 1<<20))
		}
		_, _ = w.WriteString("\nshort\r\nno end")
		_ = w.Flush()
	},
	"sleep": func() { time.Sleep(time.Hour) },
	// A daemon in its own session that holds both pipes, ignores SIGTERM and outlives
	// its starter. DAEMON_ENV=none takes the marker away from it too.
	"daemon":        func() { startDaemon(); fmt.Println("started") },
	"daemon-silent": func() { startDaemon(); time.Sleep(time.Hour) },
	"grandchild": func() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), actAs+"=sleep")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		must(cmd.Start())
		must(os.WriteFile(os.Getenv("PID_FILE"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600))
	},
}

func startDaemon() {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{actAs + "=stubborn"}
	if os.Getenv("DAEMON_ENV") != "none" {
		cmd.Env = append(os.Environ(), cmd.Env...)
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	must(cmd.Start())
	must(os.WriteFile(os.Getenv("PID_FILE"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o600))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// gone reports whether no such process runs any more.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) != nil
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z")
}

// eventually polls until ok or fails the test.
func eventually(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}
