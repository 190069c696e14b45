package strictjson

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	Path   string // such as "scope.allowed_globs[2]"; "" for the whole document
	Reason string
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Reason
	}
	return p.Path + ": " + p.Reason
}

// Problems is an error that names everything that is wrong with a document.
type Problems struct{ Problems []Problem }

// Bad is the error of one problem.
func Bad(path, reason string) *Problems {
	return &Problems{Problems: []Problem{{path, reason}}}
}

// maxProblems is how many of them the text spells out.
const maxProblems = 5

// Error gives the problems on one line, at most five of them.
func (e *Problems) Error() string {
	var s []string
	for _, p := range e.Problems[:min(len(e.Problems), maxProblems)] {
		s = append(s, p.String())
	}
	if n := len(e.Problems) - maxProblems; n > 0 {
		s = append(s, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(s, "; ")
}
