package loop

import "testing"

// What is suggested after an end goes to the same branch, and with another key: the old one
// would give the ticks that ended, the last one among them.
func TestAgainPushesWithTheNextKey(t *testing.T) {
	for key, next := range map[string]string{"night": "night-2", "night-2": "night-3", "night-20261123": "night-20261123-2", "-1": "-1-2"} {
		l := &Loop{o: Options{Mode: Milestone, Key: key, Push: "origin", Signers: "my signers"}}
		if got, want := l.command(), "relay loop --mode milestone --key "+next+" --signers 'my signers' --push origin"; got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
}
