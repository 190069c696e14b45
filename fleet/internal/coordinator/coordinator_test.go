package coordinator

import (
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"
)

// A document is replaced only by a writer that has seen its current version, even when two write at once.
func TestSwaps(t *testing.T) {
	var s testsuite.WorkflowTestSuite
	env := s.NewTestWorkflowEnvironment()
	taken := map[string]bool{}
	say := func(name string, after time.Duration, w Swap) {
		env.RegisterDelayedCallback(func() {
			env.UpdateWorkflow(swap, name, &testsuite.TestUpdateCallback{OnAccept: func() {}, OnReject: func(error) {},
				OnComplete: func(_ any, err error) { taken[name] = err == nil }}, w)
		}, after)
	}
	say("first", time.Second, Swap{"a", "", "1"})
	say("not the first", 2*time.Second, Swap{"a", "", "2"})
	say("next", 3*time.Second, Swap{"a", "1", "3"})
	say("at once", 3*time.Second, Swap{"a", "1", "4"})
	say("another", 4*time.Second, Swap{"b", "", "5"})
	env.RegisterDelayedCallback(func() {
		for name, want := range map[string]string{"a": "3", "b": "5", "c": ""} {
			v, err := env.QueryWorkflow(digest, name)
			var got string
			if err != nil || v.Get(&got) != nil || got != want {
				t.Errorf("%s: %q, want %q, %v", name, got, want, err)
			}
		}
		env.CancelWorkflow()
	}, 5*time.Second)
	env.ExecuteWorkflow(Documents, map[string]string(nil))
	for name, want := range map[string]bool{"first": true, "not the first": false, "next": true, "at once": false, "another": true} {
		if taken[name] != want {
			t.Errorf("%s: %v", name, taken[name])
		}
	}
}
