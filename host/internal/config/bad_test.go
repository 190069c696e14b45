package config

import (
	"strings"
	"testing"
	"unicode"
)

func TestRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	tmpl := func(s string) string { return `{"verification":{"templates":[` + s + `]}}` }
	for name, c := range map[string]struct {
		file, text string
		want       []string
	}{
		"trailing comma":        {"relay.config.json", "{\n \"runner\": {\n  \"max_tick_seconds\": 5,\n }\n}", []string{"line 4", "comma with nothing after", "relay.config.json"}},
		"trailing comma list":   {"relay.config.json", "{\"scope\": {\"lockfiles\": [\"a\",\n]}}", []string{"line 2", "comma with nothing after"}},
		"comment":               {"relay.config.json", "{\n // c\n}", []string{"line 2", "comment"}},
		"duplicate key":         {"relay.config.json", "{\"runner\":{},\n\"runner\":{}}", []string{"line 2", `"runner" appears twice`}},
		"duplicate key yaml":    {"relay.config.yaml", "runner: {}\nrunner: {}\n", []string{"line 2"}},
		"duplicate key toml":    {"relay.config.toml", "version='1.0'\nversion='1.0'\n", []string{"version"}},
		"invalid UTF-8":         {"relay.config.json", "{\n\"product_name\":\"\xff\"}", []string{"line 2", "UTF-8"}},
		"invalid UTF-8 yaml":    {"relay.config.yaml", "a: \xc3(", []string{"line 1", "UTF-8"}},
		"half a surrogate":      {"relay.config.json", `{"product_name":"\ud800"}`, []string{"surrogate"}},
		"deep":                  {"relay.config.json", deep, []string{"nested deeper"}},
		"deep yaml":             {"relay.config.yaml", "a: " + strings.Repeat("[", 5000), []string{"nested"}},
		"deep toml":             {"relay.config.toml", "a = " + strings.Repeat("[", 5000), []string{"nested"}},
		"huge":                  {"relay.config.json", `{"product_name":"` + strings.Repeat("x", 2<<20) + `"}`, []string{"over 1048576 bytes"}},
		"empty":                 {"relay.config.json", " \n", []string{"empty"}},
		"cut":                   {"relay.config.json", "{\"runner\":\n{", []string{"ends in the middle", "line 2"}},
		"not an object":         {"relay.config.json", "[]", []string{"must be an object"}},
		"null":                  {"relay.config.json", "null", []string{"must be an object"}},
		"scalar yaml":           {"relay.config.yaml", "just text", []string{"must be an object"}},
		"two values":            {"relay.config.json", "{} {}", []string{"follows the end"}},
		"two documents":         {"relay.config.yaml", "a: 1\n---\nb: 2\n", []string{"second document"}},
		"yaml tabs":             {"relay.config.yaml", "runner:\n\tx: 1\n", []string{"line"}},
		"billion laughs":        {"relay.config.yaml", "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n", []string{"too many"}},
		"alias to itself":       {"relay.config.yaml", "a: &a [*a]\n", []string{"relay.config.yaml"}},
		"yaml type":             {"relay.config.yaml", "version: !!binary aGk=\n", []string{"line 1"}},
		"yaml unquoted version": {"relay.config.yaml", "version: 1.0\n", []string{"version", "quotes"}},
		"toml date":             {"relay.config.toml", "product_name = 2020-01-01\n", []string{"line 1", "date"}},
		"number too large":      {"relay.config.json", `{"runner":{"max_tick_seconds":1e999}}`, []string{"too large"}},

		"unknown key":         {"relay.config.json", "{\"runner\": {\n\"max_tick_secs\": 5}}", []string{"line 2", "runner.max_tick_secs", "did you mean runner.max_tick_seconds?"}},
		"unknown section":     {"relay.config.json", `{"budget":{}}`, []string{"did you mean budgets?"}},
		"wrong place":         {"relay.config.json", `{"max_verify_runs":5}`, []string{"did you mean budgets.per_milestone.max_verify_runs?"}},
		"end of a key":        {"relay.config.json", `{"builder":{"mode":"claude"}}`, []string{"did you mean builder.default_mode?"}},
		"wrong case":          {"relay.config.json", `{"Runner":{}}`, []string{"unknown key", "did you mean runner?"}},
		"look-alike letter":   {"relay.config.json", `{"ver\u017fion":"1.0"}`, []string{"unknown key", "did you mean version?"}},
		"nothing near":        {"relay.config.json", `{"commit":{"zzzzzzzzzz":1}}`, []string{"known here: on_success, builder_commits"}},
		"hostile key":         {"relay.config.json", `{"a\u001b[31m\nb":1}`, []string{`\x1b`}},
		"unknown in template": {"relay.config.json", tmpl(`{"id":"a","cmd":"x","arg":[]}`), []string{"verification.templates[0].arg", "args"}},
		"unknown toml":        {"relay.config.toml", "[runner]\nx = 1\nmax_tick = 2\n", []string{"line 3", "max_tick_seconds"}},
		"wrong type":          {"relay.config.json", "{\"runner\":\n{\"max_tick_seconds\":\n\"5\"}}", []string{"line 3", "runner.max_tick_seconds", "a whole number from 1 to 86400", `the text "5"`}},
		"fraction":            {"relay.config.json", `{"runner":{"max_tick_seconds":1.5}}`, []string{"whole number", "1.5"}},
		"zero":                {"relay.config.json", `{"runner":{"max_tick_seconds":0}}`, []string{"from 1"}},
		"null value":          {"relay.config.json", `{"runner":{"max_tick_seconds":null}}`, []string{"null is not a value"}},
		"section as list":     {"relay.config.json", `{"runner":[]}`, []string{"runner: expected an object, got a list"}},
		"list as text":        {"relay.config.json", `{"scope":{"lockfiles":"a"}}`, []string{"expected a list of texts"}},
		"number in list":      {"relay.config.json", `{"scope":{"lockfiles":["a",1]}}`, []string{"scope.lockfiles[1]", "quotes"}},
		"bool as text":        {"relay.config.yaml", "commit: {on_success: yes}", []string{"true or false"}},
		"enum":                {"relay.config.json", `{"box":{"means":"overlayy"}}`, []string{`did you mean "overlay"?`, `"landlock"`}},
		"several":             {"relay.config.json", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, []string{"and 2 more"}},

		"empty glob":        {"relay.config.json", `{"scope":{"default_allowed_globs":[""]}}`, []string{"is empty"}},
		"brace glob":        {"relay.config.json", `{"scope":{"default_forbidden_globs":["{a,b}"]}}`, []string{"default_forbidden_globs", `"{a,b}"`}},
		"absolute glob":     {"relay.config.json", `{"runner":{"runner_owned_globs":["/etc/**"]}}`, []string{"/etc/**"}},
		"lockfile path":     {"relay.config.json", `{"scope":{"lockfiles":["a/b"]}}`, []string{"not the name of a file"}},
		"regex":             {"relay.config.json", `{"verification":{"reject_metachars_regex":"["}}`, []string{"missing closing"}},
		"lookahead regex":   {"relay.config.json", `{"verification":{"reject_metachars_regex":"(?=x)"}}`, []string{"Go's regular expressions"}},
		"ids twice":         {"relay.config.json", tmpl(`{"id":"a","cmd":"x"},{"id":"a","cmd":"y"}`), []string{"[0] and [1]", "same id"}},
		"no cmd":            {"relay.config.json", tmpl(`{"id":"a"}`), []string{"templates[0]", `"cmd" is missing`}},
		"shell string":      {"relay.config.json", tmpl(`{"id":"a","cmd":"go test ./..."}`), []string{"whole command line", "args"}},
		"script line":       {"relay.config.json", tmpl(`{"id":"a","cmd":"./run.sh -x"}`), []string{"whole command line"}},
		"shell signs":       {"relay.config.json", tmpl(`{"id":"a","cmd":"go&&rm"}`), []string{"shell"}},
		"sh -c parameter":   {"relay.config.json", tmpl(`{"id":"a","cmd":"/bin/sh","args":["-ec","x {{p}}"],"params":{"p":{"kind":"path"}}}`), []string{"shell's -c"}},
		"undeclared param":  {"relay.config.json", tmpl(`{"id":"a","cmd":"x","args":["{{p}}"]}`), []string{"does not declare"}},
		"unused param":      {"relay.config.json", tmpl(`{"id":"a","cmd":"x","params":{"p":{"kind":"path"}}}`), []string{"no argument uses"}},
		"half placeholder":  {"relay.config.json", tmpl(`{"id":"a","cmd":"x","args":["{{p"]}`), []string{"half a placeholder"}},
		"param kind":        {"relay.config.json", tmpl(`{"id":"a","cmd":"x","args":["{{p}}"],"params":{"p":{"kind":"paths"}}}`), []string{"params.p.kind", `did you mean "path"?`}},
		"workspace above":   {"relay.config.json", `{"workspace_dir":"../x"}`, []string{"workspace_dir"}},
		"workspace git":     {"relay.config.json", `{"workspace_dir":".git"}`, []string{"git's own folder"}},
		"workspace root":    {"relay.config.json", `{"workspace_dir":"."}`, []string{"workspace_dir"}},
		"workspace abs":     {"relay.config.json", `{"workspace_dir":"/tmp/x"}`, []string{"workspace_dir"}},
		"tmp glob above":    {"relay.config.json", `{"runner":{"crash_cleanup":{"delete_tmp_glob":".relay/../*.tmp"}}}`, []string{"delete_tmp_glob"}},
		"tmp glob absolute": {"relay.config.json", `{"runner":{"crash_cleanup":{"delete_tmp_glob":"/tmp/*.tmp"}}}`, []string{"delete_tmp_glob"}},
		"tmp glob UNC":      {"relay.config.json", `{"runner":{"crash_cleanup":{"delete_tmp_glob":"\\\\h\\s\\*.tmp"}}}`, []string{"delete_tmp_glob"}},
		"tmp glob wide":     {"relay.config.json", `{"runner":{"crash_cleanup":{"delete_tmp_glob":"**/*.tmp"}}}`, []string{"delete_tmp_glob", "workspace"}},
		"tmp glob other":    {"relay.config.json", `{"runner":{"crash_cleanup":{"delete_tmp_glob":".relay/*.json"}}}`, []string{"delete_tmp_glob", ".tmp"}},
		"other lockfile":    {"relay.config.json", `{"runner":{"lockfile":"/tmp/lock"}}`, []string{"runner.lockfile", `".relay/lock.json"`}},
		"other history":     {"relay.config.json", `{"workspace_dir":"relais","history":{"dir":".relay/history"}}`, []string{"history.dir", `"relais/history"`}},
		"prompt outside":    {"relay.config.json", `{"orchestrator":{"system_prompt_file":"../p"}}`, []string{"system_prompt_file"}},
		"model flag":        {"relay.config.json", `{"models":{"builder_model":"--dangerously"}}`, []string{"models.builder_model"}},
		"tools flag":        {"relay.config.json", `{"builder":{"claude_code":{"allowed_tools":"--x"}}}`, []string{"allowed_tools"}},

		"no git":             {"relay.config.json", `{"runner":{"require_git":false}}`, []string{"require_git", "refused"}},
		"shell mode":         {"relay.config.json", `{"verification":{"execution_mode":"shell"}}`, []string{"execution_mode", "refused"}},
		"dotdot":             {"relay.config.json", `{"verification":{"reject_dotdot":false}}`, []string{"reject_dotdot", "refused"}},
		"orchestrator tools": {"relay.config.json", `{"orchestrator":{"allowed_tools":"Bash"}}`, []string{"orchestrator.allowed_tools", "refused"}},
		"version":            {"relay.config.json", `{"version":"2.0"}`, []string{"version", "refused"}},

		"external and cursor": {"relay.config.json", `{"builder":{"external":{"command":"a"},"cursor":{"command":"a"}}}`, []string{"builder.cursor", "keep one"}},
		"external without":    {"relay.config.json", `{"builder":{"default_mode":"external"}}`, []string{"builder.default_mode", "builder.external"}},
		"external no command": {"relay.config.json", `{"builder":{"external":{"args":[]}}}`, []string{"command", "missing"}},
		"patch not allowed":   {"relay.config.json", `{"builder":{"default_mode":"patch","allow_patch_mode":false}}`, []string{"allow_patch_mode"}},
		"output outside":      {"relay.config.json", `{"builder":{"external":{"command":"a","output_file":".git/x"}}}`, []string{"output_file", ".git"}},
		"persist home":        {"user/config.json", `{"box":{"persist_dirs":["~/"]}}`, []string{"persist_dirs", "folder of HOME"}},
		"persist above":       {"user/config.json", `{"box":{"persist_dirs":["~/../x"]}}`, []string{"persist_dirs"}},
		"user file":           {"user/config.toml", "[runer]\n", []string{"config.toml", "did you mean runner?"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{c.file: c.text}
			if strings.HasPrefix(c.file, "user/") {
				files["relay.config.json"] = "{}"
			}
			_, err := Load(setup(t, files))
			refused(t, err, c.want...)
		})
	}
}

func TestSetAndEnvironmentRefused(t *testing.T) {
	for arg, want := range map[string]string{
		"runner.max_tick=5":               "did you mean runner.max_tick_seconds?",
		"runer.max_tick_seconds=5":        "did you mean runner?",
		"a..b=5":                          "unknown key",
		"runner.max_tick_secs=5":          "did you mean runner.max_tick_seconds?",
		"max_tick_seconds=5":              "did you mean runner.max_tick_seconds?",
		"runner.max_tick_seconds":         "key=value",
		"=5":                              "key=value",
		"runner.max_tick_seconds=soon":    `the text "soon"`,
		"commit.on_success=yes":           "true or false",
		"runner=5":                        "expected an object",
		"plugins.Claude.x=1":              "is not a name of a plugin",
		"verification.templates=[{}]":     "missing",
		"scope.default_allowed_globs=/a":  "relative",
		"builder.claude_code.max_turns=[": "whole number",
	} {
		o := setup(t, map[string]string{"relay.config.json": "{}"})
		o.Set = []string{arg}
		_, err := Load(o)
		refused(t, err, want, "--set")
	}
	o := setup(t, map[string]string{"relay.config.json": "{}"})
	o.Env = []string{"RELAY_RUNNER_MAX_TICK_SECONDS=soon"}
	_, err := Load(o)
	refused(t, err, "RELAY_RUNNER_MAX_TICK_SECONDS", "the environment", "whole number")
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"runner":{"max_tick_seconds":5}}`, "runner:\n  x: [1, 2]\n", "[a]\nb = 1\n", "{", "\xff", "a: &a [*a]", "{\"a\":1,}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range []string{"x.json", "x.yaml", "x.toml"} {
			n, err := parse(name, b, Origin{Layer: LayerRepo, File: name})
			if err == nil {
				inspect(n)
			} else if strings.ContainsFunc(err.Error(), unicode.IsControl) {
				t.Errorf("control character in %q", err)
			}
		}
	})
}
