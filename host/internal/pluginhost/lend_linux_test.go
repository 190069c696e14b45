package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/broker"
	"github.com/paxiom/relay/host/internal/catalog"
	"github.com/paxiom/relay/judge"
)

// brokered is a plugin that wants an OpenAI key and has a broker instead.
func brokered(t *testing.T) Spec {
	t.Helper()
	s := good()
	s.Entry.Env = []catalog.EnvVar{{Name: "OPENAI_API_KEY", Secret: true}, {Name: "OPENAI_BASE_URL"}, {Name: "GEMINI_API_KEY", Secret: true}, {Name: "CLAUDE_CODE_OAUTH_TOKEN", Secret: true}}
	s.Entry.ConfigSchema = nil
	s.Broker = broker.New()
	t.Cleanup(s.Broker.Close)
	if err := s.Broker.Listen(); err != nil {
		t.Fatal(err)
	}
	return s
}

// With a broker the plugin's environment has a key that opens the vendor's door only by
// way of the broker, and only while the plugin is open.
func TestLentKey(t *testing.T) {
	var got []string
	vendor := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	defer vendor.Close()
	t.Setenv("OPENAI_API_KEY", "sk-of-the-environment")
	t.Setenv("OPENAI_BASE_URL", "https://not-asked.example")
	t.Setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-a-login-1234567")
	s := brokered(t)
	s.Config = []byte(`{"secret":"broker","base_url":"` + vendor.URL + `/v1","keys":{"OPENAI_API_KEY":"file:` + keyFile(t, ownKey, 0o600) + `"}}`)
	env := environ(t, s)
	for _, bad := range []string{ownKey, "of-the-environment", "sk-a-login", "not-asked", vendor.URL} {
		if strings.Contains(env, bad) {
			t.Errorf("it has %s:\n%s", bad, env)
		}
	}
	p := mustOpen(t, s)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	env = "\n" + strings.ReplaceAll(string(b), "\x00", "\n")
	key := variable(t, env, "OPENAI_API_KEY")
	ask := func() int {
		req, _ := http.NewRequest("GET", variable(t, env, "OPENAI_BASE_URL")+"/models", nil)
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if status := ask(); status != 200 || !reflect.DeepEqual(got, []string{"/v1/models Bearer " + ownKey}) {
		t.Errorf("%d, the vendor got %q", status, got)
	}
	if text := p.secrets.String("a " + key + " b " + ownKey + " c sk-of-the-environment"); strings.Contains(text, "relay-") || strings.Contains(text, ownKey) {
		t.Errorf("not masked: %s", text)
	}
	p.Close(context.Background())
	if status := ask(); status != 401 || len(got) != 1 {
		t.Errorf("after the plugin: %d, %d requests", status, len(got))
	}
}

// variable is what the plugin found in its environment when it was started.
func variable(t *testing.T, env, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(env, "\n"+name+"=")
	if !ok {
		t.Fatalf("no %s in %s", name, env)
	}
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// What can't be lent is said, with what to do, and nothing is started with a real key.
func TestNotLent(t *testing.T) {
	file := keyFile(t, ownKey, 0o600)
	for name, c := range map[string]struct {
		config string
		code   judge.Code
		says   string
	}{
		"no key":       {`{"secret":"broker"}`, judge.BlockedAuth, "plugins.good.keys"},
		"a login":      {`{"secret":"broker","keys":{"CLAUDE_CODE_OAUTH_TOKEN":"file:` + file + `"}}`, judge.BlockedPlugin, "not CLAUDE_CODE_OAUTH_TOKEN"},
		"a cloud":      {`{"secret":"broker","backend":"vertex","keys":{"OPENAI_API_KEY":"file:` + file + `"}}`, judge.BlockedPlugin, "logins of its own"},
		"in the clear": {`{"secret":"broker","base_url":"http://example.org","keys":{"OPENAI_API_KEY":"file:` + file + `"}}`, judge.BlockedPlugin, "https://"},
		"a server":     {`{"secret":"broker","keys":{"GEMINI_API_KEY":"file:` + file + `"}}`, judge.BlockedPlugin, "plugins.good.base_url"},
		"missing":      {`{"secret":"broker","keys":{"OPENAI_API_KEY":"file:` + file + `.not"}}`, judge.BlockedAuth, "ls -l"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("GOOGLE_GEMINI_BASE_URL", "https://own.example") // which the plugin does not declare
			s := brokered(t)
			s.Config = []byte(c.config)
			_, err := Open(context.Background(), s)
			var f *Failure
			if !errors.As(err, &f) || f.Diagnostic().Code != c.code || !strings.Contains(err.Error()+f.Fix, c.says) || strings.Contains(err.Error(), ownKey) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The server is taken from wherever the plugin would have found it, and the plugin finds
// the broker there and nowhere else.
func TestRedirect(t *testing.T) {
	t.Setenv("GOOGLE_GEMINI_BASE_URL", "https://env.example")
	for config, want := range map[string][2]string{
		`{"a":1}`: {"https://env.example", `{"a":1}`},
		`{"env":{"GOOGLE_GEMINI_BASE_URL":"https://block.example","GEMINI_API_KEY":"x","OTHER":"y"}}`: {"https://block.example", `{"env":{"OTHER":"y"}}`},
		`{"base_url":"https://own.example","a":1}`:                                                    {"https://own.example", `{"a":1}`},
	} {
		s := good()
		s.Entry.Env = []catalog.EnvVar{{Name: "GOOGLE_GEMINI_BASE_URL"}}
		s.Config = []byte(config)
		accounts := []broker.Account{{Variable: "GEMINI_API_KEY", Key: ownKey}}
		if f := s.redirect(accounts); f != nil || accounts[0].Server != want[0] || string(s.Config) != want[1] {
			t.Errorf("%s: %v %q %s", config, f, accounts[0].Server, s.Config)
		}
	}
	if yes, files := Lends([]byte(`{"secret":"broker","keys":{"A":"file:/k","B":"env:X","C":{"command":["x"]}}}`)); !yes || !reflect.DeepEqual(files, []string{"/k"}) {
		t.Errorf("%v %q", yes, files)
	}
	for _, other := range []string{`{}`, `{"secret":"environment","keys":{"A":"file:/k"}}`, ``} {
		if yes, _ := Lends([]byte(other)); yes {
			t.Errorf("%s lends", other)
		}
	}
}
