package pluginhost

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// floodVar makes the test binary a host that is flooded by the plugin that it names.
const floodVar = "PLUGINHOST_TEST_FLOOD"

// hostMost is what a host may take while a plugin floods it, in kilobytes: 400 MiB of notices
// took it to 839 MB once. How far it gets below that depends on when garbage is collected.
const hostMost = 96 << 10

// beFlooded makes one call and prints the most memory that this process ever had.
func beFlooded(kind string) {
	f, _ := round(kind, nil)
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println(strings.Fields(kb)[0], f == nil)
		}
	}
	os.Exit(0)
}

// Whatever a plugin sends, by whichever way, its host stays small.
func TestFloodsTakeNoMemory(t *testing.T) {
	for _, kind := range []string{"flood", "flood-bytes", "flood-notices", "flood-stderr", "fat", "commanding"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), floodVar+"="+kind)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(kind, err)
		}
		f := strings.Fields(string(out))
		kb, err := strconv.Atoi(f[0])
		if err != nil || kb > hostMost || (f[1] == "true") != (kind == "flood-stderr") {
			t.Errorf("%s: the host had %d kB at most, want %d: %s", kind, kb, hostMost, out)
		}
		t.Logf("%s: %d MB", kind, kb>>10)
	}
}
