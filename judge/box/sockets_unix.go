//go:build linux || darwin

package box

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// socketVariables name services of the user's session and machine. A process that can
// talk to one of them as the user can run programs outside the box.
var socketVariables = []string{
	"DOCKER_HOST", "CONTAINER_HOST", "BUILDKIT_HOST", "CONTAINERD_ADDRESS", "PODMAN_HOST",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "GPG_TTY",
	"DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID",
	"DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "SESSION_MANAGER", "ICEAUTHORITY", "PULSE_SERVER", "PIPEWIRE_REMOTE",
	"TMUX", "TMUX_PANE", "STY", "ZELLIJ", "KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "ALACRITTY_SOCKET",
	"NVIM", "NVIM_LISTEN_ADDRESS", "EMACS_SERVER_FILE", "VSCODE_IPC_HOOK_CLI", "VSCODE_IPC_HOOK", "VSCODE_GIT_IPC_HANDLE",
	"SWAYSOCK", "I3SOCK", "HYPRLAND_INSTANCE_SIGNATURE", "XDG_SESSION_ID",
}

// WithoutSockets takes the variables out of an environment, and sets others.
func WithoutSockets(env []string, set map[string]string) []string {
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if _, replaced := set[name]; replaced {
			continue
		}
		if !slices.Contains(socketVariables, name) {
			out = append(out, e)
		}
	}
	for name, value := range set {
		out = append(out, name+"="+value)
	}
	return out
}

// socketPaths are the paths of sockets that this process can name: those that its
// environment points to and those that the kernel lists as bound.
func socketPaths() []string {
	var out []string
	for _, name := range socketVariables {
		for _, part := range strings.FieldsFunc(os.Getenv(name), func(r rune) bool { return strings.ContainsRune(",;=:", r) }) {
			out = append(out, strings.TrimPrefix(part, "//"))
		}
	}
	table, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.SplitSeq(string(table), "\n") {
		if i := strings.Index(line, " /"); i >= 0 {
			out = append(out, line[i+1:])
		}
	}
	return slices.DeleteFunc(out, func(path string) bool { return !filepath.IsAbs(path) })
}

func isSocket(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSocket != 0
}

// mountPoints are the host's mount points.
func mountPoints() (points []string, err error) {
	mounts, err := hostMounts()
	for _, m := range mounts {
		points = append(points, m.at)
	}
	return points, err
}

// hostMounts are the host's mounts, from the kernel's list. A box begins with those of the
// thread that starts it, which need not be those of the process's first thread.
func hostMounts() ([]mount, error) {
	table, err := os.ReadFile("/proc/thread-self/mountinfo")
	return readMounts(string(table)), err
}
