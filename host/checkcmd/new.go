package checkcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/paxiom/relay/host"
	"github.com/paxiom/relay/host/diag"
	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/templates"
	"github.com/paxiom/relay/judge"
	"github.com/paxiom/relay/verify/examine"
)

// NewResult is the document of relay check new.
type NewResult struct {
	host.Doc
	Folder string   `json:"folder"` // of the draft
	Files  []string `json:"files"`  // the check itself comes first
	// Text and Class are what the examiner wrote, Provider, Model and CostUSD who it was.
	Text     string   `json:"text,omitempty"`
	Class    string   `json:"class,omitempty"` // what kind of check it is
	Provider string   `json:"provider,omitempty"`
	Model    string   `json:"model,omitempty"`
	CostUSD  *float64 `json:"cost_usd,omitempty"`
	Next     string   `json:"next"`
}

// languages are those that a check can be written in from a template.
var languages = []string{"python", "javascript", "go"}

var checkName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// New writes the draft of a hidden check in a language: it counts once [Repo.AddCheck]
// has tried it.
func New(_ context.Context, r *host.Repo, name, language string) (*NewResult, error) {
	o, err := r.Open()
	if err != nil {
		return nil, err
	}
	if !checkName.MatchString(name) {
		return nil, diag.New("", fmt.Sprintf("%q is not a valid check name", host.Safe(name)), "use lower-case letters, digits, \"-\" and \"_\"", "`relay check new ranges --hidden`")
	}
	if language == "" {
		language = languageOf(o.Root)
	}
	file, skeleton := templates.Check(language)
	if skeleton == "" {
		return nil, diag.New("", fmt.Sprintf("relay has no template for a check in %s", host.Safe(language)), "a check is written in python, javascript or go, and calls code in any language", "`relay check new "+name+" --hidden --lang python`")
	}
	dir := filepath.Join(config.ChecksDir(config.UserDir(r.Options.Env)), name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, diag.Internal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, diag.Wrap(err, judge.BlockedMissingConfig, "the check "+name+" is not made", "`ls "+diag.Word(dir)+"`; another name may be free")
	}
	client, text := examine.Client(language)
	for name, text := range map[string]string{file: skeleton, client: text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, diag.Internal(err)
		}
	}
	return &NewResult{Doc: host.DocOf("relay.check.new", 1), Folder: dir, Files: []string{file, client},
		Next: "`${EDITOR:-vi} " + diag.Word(filepath.Join(dir, file)) + "`, then `relay check add " + name + "`"}, nil
}

// languageOf guesses the language of a repository by the file that every project of it has.
func languageOf(root string) string {
	for _, l := range []struct{ file, language string }{{"go.mod", "go"}, {"package.json", "javascript"}} {
		if _, err := os.Stat(filepath.Join(root, l.file)); err == nil {
			return l.language
		}
	}
	return "python"
}
