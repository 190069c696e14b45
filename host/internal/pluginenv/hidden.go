package pluginenv

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify"
)

// HiddenLog is where the operator finds what the hidden checks of a run printed. No box
// shows it.
func HiddenLog(stateDir, runID string) string {
	return filepath.Join(stateDir, "hidden", runID+".log")
}

// HiddenResults are what a run's hidden checks did, as a report may have it.
type HiddenResults struct {
	Said  string      // such as "2 of 2"; "" where there were none
	Fault *diag.Error // of the checks that failed: no more than the classes that their authors gave
	Note  string      // why what they printed could not be kept
}

// Failed says that one failed, with the classes of those that did.
func (h *HiddenResults) Failed() string {
	return strings.TrimSuffix(h.Fault.What+": "+h.Fault.Why, ": ")
}

// KeepHidden writes what hidden checks printed where the operator finds it, and gives back
// what others may know.
func KeepHidden(stateDir, runID string, all []verify.Result, seed uint64) (out HiddenResults) {
	if len(all) == 0 {
		return out
	}
	var log strings.Builder
	var classes []string
	passed := 0
	for _, v := range all {
		if v.OK() {
			passed++
		} else if !slices.Contains(classes, v.Command.Class) && v.Command.Class != "" {
			classes = append(classes, v.Command.Class)
		}
		fmt.Fprintf(&log, "== %s: %q, seed %d\n%s\n== %s: %s\n\n", v.Command.ID, v.Command.Argv, seed, v.Output, v.Command.ID, v.Outcome())
	}
	out.Said = fmt.Sprintf("%d of %d", passed, len(all))
	path := HiddenLog(stateDir, runID)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(log.String()), 0o600)
	}
	if err != nil {
		out.Note = "what the hidden checks printed could not be kept: " + err.Error()
	}
	if passed < len(all) {
		out.Fault = diag.New(judge.StopHiddenFailed, "a hidden check failed", strings.Join(classes, "; "), "only `relay show` says what it printed; `relay salvage` gets at the change")
	}
	return out
}
