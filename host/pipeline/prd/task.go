package prd

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paxiom/relay/host/internal/strictjson"
)

// Status says where a task stands. What waits for a blocker is still Pending: that
// follows from the graph and is not written down.
type Status string

// The statuses of a task. "done" is read as Completed and "todo" and "open" as
// Pending, since other tools write those.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Skipped    Status = "skipped"
)

// aliases are the other spellings that are understood.
var aliases = map[Status]Status{"": Pending, "todo": Pending, "open": Pending, "done": Completed}

// over reports whether a task of this status holds nobody up any more.
func (s Status) over() bool { return s == Completed || s == Skipped }

// Task is one entry of the list. Fields of the file that are not here are kept when
// the file is written.
type Task struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Status   Status `json:"status"`
	Priority int    `json:"priority"` // lower comes first
	// DependsOn are the ids of the tasks that must be over before this one starts.
	DependsOn          []string   `json:"depends_on"`
	AcceptanceCriteria []string   `json:"acceptance_criteria"`
	Validation         Validation `json:"validation"`
	Artifacts          Artifacts  `json:"artifacts"`
	CompletedAt        *time.Time `json:"completed_at"`
	Notes              *string    `json:"notes"`

	// Description says more than the title; optional.
	Description string `json:"description,omitempty"`
	// HiddenChecks are ids of hidden checks that the task has to pass beside those that
	// every change has to.
	HiddenChecks []string `json:"hidden_checks,omitempty"`
	// Scope fences the task in; nil means the configuration's defaults.
	Scope *Scope `json:"scope,omitempty"`
}

// Validation is how a task's result is tried.
type Validation struct {
	Command Command `json:"command"`
}

// Artifacts are the files in which a task's plan and review are kept, relative to the
// repository.
type Artifacts struct {
	Plan   *string `json:"plan"`   // file of the plan
	Review *string `json:"review"` // file of the review
}

// Scope is the fence of one task, in the words of a tick's task.
type Scope struct {
	AllowedGlobs         []string `json:"allowed_globs"`
	ForbiddenGlobs       []string `json:"forbidden_globs,omitempty"`
	AllowNewFiles        *bool    `json:"allow_new_files,omitempty"` // nil: the default
	AllowLockfileChanges bool     `json:"allow_lockfile_changes,omitempty"`
	MaxFilesTouched      int      `json:"max_files_touched,omitempty"` // 0: the default
	MaxLinesChanged      int      `json:"max_lines_changed,omitempty"` // 0: the default
}

// Command is an argv, or several with the word && between them. In the file it may be a
// list, or one string of plain words that is split at spaces with quotes respected; no shell
// ever sees it.
type Command []string

// and joins the steps of a command.
const and = "&&"

// Steps are the argvs of a command, to be run until one fails.
func (c Command) Steps() (steps [][]string) {
	for rest := []string(c); len(rest) > 0; {
		i := slices.Index(rest, and)
		if i < 0 {
			return append(steps, rest)
		}
		steps, rest = append(steps, rest[:i]), rest[i+1:]
	}
	return steps
}

// UnmarshalJSON takes both forms; null and "" are no command.
func (c *Command) UnmarshalJSON(b []byte) error {
	var text *string
	if len(b) > 0 && b[0] == '[' { // a list: the other form need not be tried
	} else if err := json.Unmarshal(b, &text); err == nil {
		if text == nil {
			*c = nil
			return nil
		}
		argv, err := Split(*text)
		*c = argv
		return err
	}
	var argv []string
	if err := json.Unmarshal(b, &argv); err != nil {
		return errors.New("must be a string or a list of strings")
	}
	for i, word := range argv {
		if begins := i == 0 || argv[i-1] == and; begins && (word == "" || word == and) {
			return errors.New("the first word, the program, is empty")
		}
	}
	if n := len(argv); n > 0 && argv[n-1] == and {
		return errors.New("nothing follows the last &&")
	}
	*c = argv
	return nil
}

// List is one reading of a task list, in the order of the file.
type List struct {
	Tasks []Task
	index map[string]int
	raw   []byte
}

// MaxBytes is the largest task list that is read: ten thousand long tasks fit.
const MaxBytes = 64 << 20

// Parse reads a task list and checks it as a graph. An error is an [*Error] that names
// every problem.
func Parse(b []byte) (*List, error) {
	tree, err := strictjson.Decode(b, MaxBytes)
	if err != nil {
		return nil, strictjson.Bad("", err.Error())
	}
	top, ok := tree.(map[string]any)
	if !ok {
		return nil, strictjson.Bad("", `must be an object with a list "tasks"`)
	}
	if _, ok := top["tasks"].([]any); !ok {
		return nil, strictjson.Bad("tasks", "must be a list of tasks")
	}
	l := &List{raw: b}
	ps := l.decode()
	if len(ps) == 0 {
		ps = l.check()
	}
	if len(ps) > 0 {
		return nil, &Error{Problems: ps}
	}
	return l, nil
}

// decode fills the tasks: all at once, and one by one only to say which are wrong.
func (l *List) decode() (ps []Problem) {
	var all struct {
		Tasks []Task `json:"tasks"`
	}
	if json.Unmarshal(l.raw, &all) == nil {
		l.Tasks = all.Tasks
	} else {
		var each struct {
			Tasks []json.RawMessage `json:"tasks"`
		}
		if err := json.Unmarshal(l.raw, &each); err != nil {
			return strictjson.Bad("tasks", err.Error()).Problems
		}
		for i, raw := range each.Tasks {
			if err := json.Unmarshal(raw, new(Task)); err != nil {
				at := strictjson.Index("tasks", i)
				var named struct{ ID string }
				if json.Unmarshal(raw, &named) == nil && ValidID(named.ID) == "" {
					at = "task " + named.ID
				}
				ps = append(ps, Problem{Path: at, Reason: plain(err)})
			}
		}
	}
	for i := range l.Tasks {
		t := &l.Tasks[i]
		if s, ok := aliases[t.Status]; ok {
			t.Status = s
		}
	}
	return ps
}

// plain says what is wrong with a value without Go's names of types.
func plain(err error) string {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s: a %s does not fit here", t.Field, t.Value)
	}
	return err.Error()
}

// Find gives the task of this id, nil when there is none.
func (l *List) Find(id string) *Task {
	if i, ok := l.index[id]; ok {
		return &l.Tasks[i]
	}
	return nil
}

// Bytes gives the file as it was read.
func (l *List) Bytes() []byte { return l.raw }
