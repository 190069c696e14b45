package prompts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// MaxTemplate is how long a template of the operator's own may be, in bytes.
const MaxTemplate = 256 << 10

// values is the rendered text of each placeholder.
type values map[string]string

// Data is all that a role is told.
type Data interface {
	role() string
	values() values
	call() Call
}

// Call is how a role is asked.
type Call struct {
	RetryReason string // why the first answer can't be used; "" on the first call
	Override    Override
}

func (c Call) call() Call { return c }

// roles are in the order of the workflows, each told nothing at all.
var roles = []Data{OrchestratorData{}, BuilderData{}, AuditData{}, RefineData{}, ReviseData{}, ReviseBuilderData{}, GenerateData{},
	PlanData{}, CodeData{}, ReviewData{}, CleanupData{}, CriteriaData{}, ExaminerData{}}

// Roles are those of the templates, in the order of the workflows.
func Roles() []string {
	var names []string
	for _, r := range roles {
		names = append(names, r.role())
	}
	return names
}

// Files are the built-in templates by the names under which one's own are looked for.
func Files() map[string]string {
	files := map[string]string{}
	for _, r := range roles {
		role := r.role()
		user := role + ".md"
		if role == "orchestrator" || role == "builder" {
			user = role + ".user.txt" // the seed's name
		}
		for name, own := range map[string]string{role + ".system": role + ".system.txt", role + ".user": user} {
			if b, err := builtin.ReadFile("templates/" + name + ".txt"); err == nil {
				files[own] = string(b)
			}
		}
	}
	return files
}

// Placeholders names what templates of the given one of Roles may use, sorted.
func Placeholders(role string) []string {
	for _, r := range roles {
		if r.role() == role {
			return slices.Sorted(maps.Keys(r.values()))
		}
	}
	return nil
}

// Reader reads a file of at most max bytes. Absence is [fs.ErrNotExist].
type Reader func(path string, max int64) ([]byte, error)

// RoleOverride reads the operator's own templates of a role from a folder:
// <role>.system.txt and <role>.md.
func RoleOverride(read Reader, dir, role string) (Override, error) {
	return LoadOverride(read, path.Join(dir, role+".system.txt"), path.Join(dir, role+".md"))
}

// LoadOverride reads the operator's own templates. A path that is "" or names no
// file leaves the built-in text; a file that is empty, too long or unreadable is
// an error.
func LoadOverride(read Reader, systemPath, userPath string) (o Override, err error) {
	if o.System, err = loadTemplate(read, systemPath); err != nil {
		return Override{}, err
	}
	if o.User, err = loadTemplate(read, userPath); err != nil {
		return Override{}, err
	}
	return o, nil
}

func loadTemplate(read Reader, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := read(path, MaxTemplate)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("prompt template: %w", err)
	}
	if strings.TrimSpace(string(b)) == "" {
		return "", fmt.Errorf("prompt template %s is empty; remove it to use the built-in text", path)
	}
	return string(b), nil
}

// Render renders the system and the user text of a call. An error names the template and
// the placeholder; it can only come from an override.
func Render(d Data) (system, user string, err error) {
	c, v := d.call(), d.values()
	if system, err = render(d.role()+".system", c.Override.System, v); err != nil {
		return "", "", err
	}
	if user, err = render(d.role()+".user", c.Override.User, v); err != nil {
		return "", "", err
	}
	if c.RetryReason != "" {
		user += again(d.role(), c.RetryReason)
	}
	return system, user, nil
}

// forms are what a second answer has to be where it is not one JSON object.
var forms = map[string]string{"audit": "the five sections", "refine": "the five sections", "revise": "all of the files"}

// again is what a second call says about the first answer.
func again(role, reason string) string {
	refused, wanted := "It did not have the form that is asked for. This is the only second chance.", cmp.Or(forms[role], "one JSON object")+" in exactly that form"
	if role == "orchestrator" {
		refused, wanted = "It was not a valid task. This is the only second chance in this tick.", "one JSON object that fixes this"
	}
	return "\n## Your previous answer was refused\n\n" + refused + " The reason:\n\n" + block(reason, capRetry) + "\n\nAnswer again with " + wanted + ", and nothing else.\n"
}

// render fills one template. An override that uses anything but placeholders is
// refused: templates are texts, not programs.
func render(name, override string, v values) (string, error) {
	text := override
	if text == "" {
		b, err := builtin.ReadFile("templates/" + name + ".txt")
		if err != nil {
			return "", fmt.Errorf("prompts: %w", err)
		}
		text = string(b)
	}
	t, err := template.New(name).Funcs(v.funcs()).Parse(text)
	if err != nil {
		return "", fmt.Errorf("prompt template %s: %w (placeholders: %s)", name, err, strings.Join(slices.Sorted(maps.Keys(v)), ", "))
	}
	if err := onlyPlaceholders(t, v); err != nil {
		return "", fmt.Errorf("prompt template %s: %w", name, err)
	}
	var out strings.Builder
	if err := t.Execute(&out, nil); err != nil {
		return "", fmt.Errorf("prompt template %s: %w", name, err)
	}
	return out.String(), nil
}

// onlyPlaceholders holds a template to text, comments and placeholders.
func onlyPlaceholders(t *template.Template, v values) error {
	if len(t.Templates()) > 1 {
		return errors.New("a template may not define others")
	}
	if t.Tree == nil {
		return nil
	}
	for _, n := range t.Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			name := strings.TrimSuffix(strings.TrimPrefix(n.Pipe.String(), "{{"), "}}")
			if _, ok := v[name]; !ok {
				return fmt.Errorf("line %d: {{%s}} is not a placeholder (there are: %s)", n.Line, name, strings.Join(slices.Sorted(maps.Keys(v)), ", "))
			}
		default:
			return fmt.Errorf("%s: only placeholders may stand in double braces", n)
		}
	}
	return nil
}

func (v values) funcs() template.FuncMap {
	m := template.FuncMap{}
	for name, text := range v {
		m[name] = func() string { return text }
	}
	return m
}
