package host

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/paxiom/relay/judge"
)

// declaredCodes reads the codes from judge's source, so that a new one without an
// explanation fails here.
func declaredCodes(t *testing.T) []judge.Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../judge/code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []judge.Code
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := v.Type.(*ast.Ident); !ok || id.Name != "Code" {
			return true
		}
		s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, judge.Code(s))
		return true
	})
	return codes
}

func TestEveryCodeIsExplained(t *testing.T) {
	codes := declaredCodes(t)
	if len(codes) < 25 {
		t.Fatalf("found only %d codes in judge/code.go", len(codes))
	}
	for _, code := range codes {
		e, ok := explanations[code]
		if !ok {
			t.Errorf("%s has no explanation", code)
			continue
		}
		for name, text := range map[string]string{"title": e.Title, "cause": e.Cause, "did": e.Did} {
			if text == "" {
				t.Errorf("%s: empty %s", code, name)
			}
		}
		if !strings.HasPrefix(e.Command, "`") {
			t.Errorf("%s: what to type does not start with a command: %q", code, e.Command)
		}
		if way := onward(e.Command); code.Outcome() == judge.OutcomeStop && !strings.Contains(way, "`relay ") {
			t.Errorf("%s: after `relay show` there is nothing to type: %q", code, way)
		}
	}
	if len(codes) != len(explanations) {
		t.Errorf("%d codes are declared and %d explained", len(codes), len(explanations))
	}
}

func TestExitCodes(t *testing.T) {
	for code, want := range map[judge.Code]int{
		judge.Success: ExitDone, judge.StopHeadMoved: ExitStopped, judge.StopProviderQuota: ExitStopped,
		judge.BlockedLockHeld: ExitBlocked, judge.BlockedMissingConfig: ExitBlocked, "": ExitBlocked, "NEW": ExitBlocked,
	} {
		if got := Explain(code).ExitCode; got != want {
			t.Errorf("%q: exit code %d, want %d", code, got, want)
		}
	}
	if got := exitOf(judge.Success, true); got != ExitWaiting {
		t.Errorf("question: exit code %d", got)
	}
	if got := ExitCode(Interrupted{15}); got != ExitTerminated {
		t.Errorf("SIGTERM: exit code %d", got)
	}
}
