package host

import (
	"strings"

	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/detect"
	"github.com/paxiom/relay/host/internal/report"
)

// More types of the core that the commands show.
type (
	// VerifyRun is one check in a report.
	VerifyRun = report.VerifyRun
	// Policy is the policy as code that was in force; PolicyHit is a rule of it that is true of a change.
	Policy    = report.Policy
	PolicyHit = report.PolicyHit
	// Worker is a plugin's part in a run.
	Worker = report.Worker
	// ConfigOrigin is where a value of the configuration came from.
	ConfigOrigin = config.Origin
	// Plugin is one plugin in a list.
	Plugin = catalog.Entry
	// Program is an agent program found on this machine.
	Program = detect.Program
	// DetectedCheck is a command that init takes for a check.
	DetectedCheck = detect.Check
)

// NotVerified is what speaks for a change that no check looked at.
const NotVerified = report.NotVerified

// Safe makes a text from a stranger fit for one line of a terminal.
func Safe(s string) string { return report.Safe(s) }

// SafeJSON makes a document fit for a terminal, and leaves its meaning.
func SafeJSON(b []byte) []byte { return report.SafeJSON(b) }

// PrintedJSON is a document as commands print it.
func PrintedJSON(b []byte) []byte { return report.Printed(b) }

// SafeLine is Safe for a line that a program printed or a file has: its tabs stay tabs.
func SafeLine(s string) string {
	parts := strings.Split(s, "\t")
	for i := range parts {
		parts[i] = Safe(parts[i])
	}
	return strings.Join(parts, "\t")
}
