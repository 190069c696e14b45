package keys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/judge/program"
)

const (
	// maxKey bounds a key, in bytes; the largest are service accounts in JSON.
	maxKey = 64 << 10
	// minKey is what package redact can mask.
	minKey = 6
	// commandTimeout is enough for a person to unlock a password store.
	commandTimeout = time.Minute
)

// Resolve gives the key. The error is a *diag.Error with BLOCKED_AUTH that says where
// the key was looked for and what to do; it holds no part of a key. root is the work tree
// in which no program is that relay starts for it.
func (r Ref) Resolve(ctx context.Context, root string) (string, error) {
	var b []byte
	var err error
	switch {
	case r.Env != "":
		b = []byte(os.Getenv(r.Env))
		if len(b) == 0 {
			return "", noKey("the variable "+r.Env+" is not set", "", "`export "+r.Env+"=…`, or name another place for the key")
		}
	case r.File != "":
		b, err = readFile(expand(r.File))
	default:
		b, err = r.run(ctx, root)
	}
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(b))
	switch {
	case len(key) < minKey:
		return "", noKey(r.String()+" has no key", "what it holds is empty or shorter than any key", r.look())
	case strings.ContainsRune(key, 0) || strings.ContainsAny(key, "\n\r") && !strings.HasPrefix(key, "{") && !strings.HasPrefix(key, "-----"):
		return "", noKey(r.String()+" holds more than a key", "a key is one line", r.look())
	}
	return key, nil
}

func noKey(what, why, fix string) *diag.Error { return diag.New(judge.BlockedAuth, what, why, fix) }

// look is a command that shows the place without showing the key.
func (r Ref) look() string {
	switch {
	case r.Env != "":
		return "`printenv " + r.Env + " | wc -c` counts its characters"
	case r.File != "":
		return "`wc " + diag.Word(expand(r.File)) + "` counts its lines and characters"
	}
	return "`" + r.argv() + " | wc` counts what it prints"
}

// Path is the file that a reference names; "" when it names none.
func (r Ref) Path() string { return expand(r.File) }

func expand(path string) string {
	rest, below := strings.CutPrefix(path, "~/")
	if !below {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// readFile reads a file that nobody but its owner can read.
func readFile(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		fix := "`ls -l " + diag.Word(path) + "`, then write the key there or name another place for it"
		return nil, noKey("the file "+path+" with the key can't be read", err.Error(), fix)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	return private(f, path)
}

// private reads an open file that has to be its owner's alone.
func private(f *os.File, path string) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, noKey(path+" can't be read", err.Error(), "`ls -l "+diag.Word(path)+"`")
	}
	sys, _ := st.Sys().(*syscall.Stat_t)
	switch {
	case !st.Mode().IsRegular():
		return nil, noKey(path+" is not a file", "it is "+kindOf(st.Mode()), "`ls -ld "+diag.Word(path)+"`, then name the file with the key")
	case sys != nil && sys.Uid != 0 && int(sys.Uid) != os.Geteuid():
		return nil, noKey(path+" belongs to another user", "a key that somebody else can change or read is none", "`cp "+diag.Word(path)+" ~/.config/relay/`, `chmod 600` the copy and name that one")
	case st.Mode().Perm()&0o077 != 0:
		return nil, noKey(path+" can be read or written by others", fmt.Sprintf("its mode is %04o", st.Mode().Perm()), "`chmod 600 "+diag.Word(path)+"`")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err == nil && len(b) > maxKey {
		err = fmt.Errorf("it is larger than %d bytes", maxKey)
	}
	if err != nil {
		return nil, noKey(path+" can't be read", err.Error(), "`ls -l "+diag.Word(path)+"`")
	}
	return b, nil
}

func kindOf(m fs.FileMode) string {
	if m.IsDir() {
		return "a folder"
	}
	return "not a regular file"
}

// run starts the command. Of what it prints on standard error the first line is told when it
// fails, without what may be a key.
func (r Ref) run(ctx context.Context, root string) ([]byte, error) {
	tool, err := program.Command(r.Command, os.Getenv("PATH"), root)
	if errors.Is(err, program.ErrInside) {
		return nil, noKey("the command that prints the key is in the repository", err.Error()+", and then read the key",
			"`mkdir -p ~/.local/bin`, copy it there, and name that one in the configuration")
	}
	if errors.Is(err, program.ErrRelative) {
		return nil, noKey("the command that prints the key depends on the folder that relay is called in", err.Error()+", where no repository can put a file", "write the whole path into the configuration")
	}
	if err != nil {
		return nil, noKey("the command that prints the key can't be found", err.Error(), "`"+r.argv()+"` has to work in this shell, with a program in a folder of PATH outside of the repository")
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := tool.Start(ctx, r.Command[1:]...)
	cmd.Env, cmd.Dir = append(program.Environ(os.Environ(), root), "PWD=/"), "/" // for what it loads and starts in turn
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, said := &bounded{}, &bounded{}
	cmd.Stdout, cmd.Stderr = out, said
	err = cmd.Run()
	var exit *exec.ExitError
	why := ""
	switch {
	case err == nil && out.over:
		why = fmt.Sprintf("it printed more than %d bytes", maxKey)
	case err == nil:
		return out.Bytes(), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		why = fmt.Sprintf("it did not end within %v", commandTimeout)
	case ctx.Err() != nil:
		why = "it was interrupted"
	case errors.As(err, &exit):
		why = "it ended with " + exit.ProcessState.String()
		if line := firstLine(said.String(), out.String()); line != "" {
			why += ": " + line
		}
	default:
		why = err.Error()
	}
	return nil, noKey("the command that prints the key failed", why, "`"+r.argv()+"` shows its own words")
}

// keyLike is a word that may be a key.
var keyLike = regexp.MustCompile(`[A-Za-z0-9+_=~.-]{16,}`)

// firstLine is the first line of a command's complaint, with neither what it printed as the key nor what looks like one.
func firstLine(said, printed string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	for _, word := range strings.Fields(printed) {
		if len(word) < minKey {
			continue
		}
		line = strings.ReplaceAll(line, word, "…")
	}
	return format.Clip(keyLike.ReplaceAllStringFunc(line, func(word string) string {
		if strings.ContainsAny(word, "0123456789") || len(word) > 40 {
			return "…"
		}
		return word
	}), 200)
}

// bounded keeps the first bytes of an output.
type bounded struct {
	bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxKey - b.Len(); len(p) > room {
		b.over = true
		b.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
