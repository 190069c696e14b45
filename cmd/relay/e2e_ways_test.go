package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paxiom/relay/testdata/e2e"
)

// A way is how one vendor is reached: a plugin, its transport, its role. A row of this
// table is all that a new one needs; matrixCases says what each goes through.
type way struct {
	vendor, transport, role string
	plugin                  string
	program                 func(testing.TB) string // nil: no program is needed
	api, path               string                  // of the script, and of the base URL
	model                   string
	keyVar                  string
	block                   string            // members of the plugin's block, where they are not the usual; COMMAND and SERVER stand for themselves
	home                    map[string]string // files of the user's
	only                    []string          // cases; nil: all

	answer func(doc string) string // a turn that gives a document as the answer
	work   []string                // turns that make add.sh add
	faults map[string]string       // turns by case, where they are not everybody's
	keyFor map[string]string       // the variable of the key by case, where it is another
	differ map[string]outcome      // what a case comes to, where it is not the usual
}

func (w way) String() string { return w.vendor + " " + w.transport + " " + w.role }

// has says that the way goes through a case.
func (w way) has(c matrixCase) bool { return w.only == nil || slices.Contains(w.only, c.name) }

// settings are the members of the plugin's block of the configuration, besides its keys.
func (w way) settings(t testing.TB, server string) string {
	command, block := "", w.block
	if w.program != nil {
		command = w.program(t)
	}
	if block == "" {
		block = `"base_url":SERVER`
		if w.role != "build" {
			block += fmt.Sprintf(`,"transport":%q`, w.transport)
		}
		if command != "" {
			block += `,"command":COMMAND`
		}
	}
	return strings.NewReplacer("COMMAND", fmt.Sprintf("%q", command), "SERVER", fmt.Sprintf("%q", server+w.path)).Replace(block)
}

// asText gives a document as a model's text, asTool as the input of a tool.
func asText(doc string) string {
	quoted, _ := json.Marshal(doc)
	return fmt.Sprintf(`{"times":-1,"text":%s}`, quoted)
}

func asTool(name string) func(doc string) string {
	return func(doc string) string { return `{"times":-1,"tool":{"name":"` + name + `","input":` + doc + `}}` }
}

const (
	matrixPatch = `--- a/add.sh\n+++ b/add.sh\n@@ -1 +1 @@\n-echo $(($1 - $2))\n+echo $(($1 + $2))\n`
	matrixDone  = `{"summary":"It adds.","files_intended":["add.sh"],"commands_ran":[],"notes":[]}`
)

// matrixTask is a task for a builder; the patch builder needs no model.
func matrixTask(builder string) string {
	patch := "null"
	if builder == "patch" {
		patch = `"` + matrixPatch + `"`
	}
	return strings.ReplaceAll(`{"task_id":"mend-add","milestone_id":"M1","task_kind":"execute","intent":"Make add.sh add",
		"scope":{"allowed_globs":["add.sh"],"forbidden_globs":[],"allow_new_files":false,"allow_lockfile_changes":false},
		"diff_limits":{"max_files_touched":1,"max_lines_changed":10},"verification":{"fast":[],"slow":[]},
		"builder":{"mode":"`+builder+`","max_turns":6,"instructions":"In add.sh print the sum.","patch":`+patch+`}}`, `,"patch":null`, "")
}

// matrixReset is when a usage limit ends, for the vendors that say so.
var matrixReset = time.Now().Add(5 * time.Hour).Truncate(time.Minute)

func failing(status int, more string) string {
	return fmt.Sprintf(`{"times":-1,"error":{"status":%d%s}}`, status, more)
}

var (
	claudeFaults = map[string]string{
		"usage limit": failing(429, fmt.Sprintf(`,"headers":{"retry-after":"18000","anthropic-ratelimit-unified-status":"rejected",
			"anthropic-ratelimit-unified-representative-claim":"five_hour","anthropic-ratelimit-unified-reset":"%[1]d",
			"anthropic-ratelimit-unified-5h-status":"rejected","anthropic-ratelimit-unified-5h-reset":"%[1]d"}`, matrixReset.Unix())),
		"overload": failing(529, ""),
	}
	codexFaults = map[string]string{
		"usage limit": failing(429, fmt.Sprintf(`,"body":{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_at":%d,"resets_in_seconds":18000}}`, matrixReset.Unix())),
	}
	geminiFaults = map[string]string{
		"bad key":    failing(400, `,"body":{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`),
		"rate limit": strings.Replace(geminiQuota("GenerateRequestsPerMinute"), `"times":-1,`, "", 1), "usage limit": geminiQuota("GenerateRequestsPerDay"),
	}
	oauth = map[string]string{"usage limit": "CLAUDE_CODE_OAUTH_TOKEN"} // an API key has no such limit
)

func geminiQuota(id string) string {
	return failing(429, `,"body":{"error":{"code":429,"message":"no","status":"RESOURCE_EXHAUSTED","details":[
		{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"`+id+`","quotaValue":"2"}]},
		{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1s"}]}}`)
}

var ways = []way{
	{vendor: "claude", transport: "api", role: "orchestrate", plugin: "claude", api: "anthropic", model: "claude-sonnet-4-5", keyVar: "ANTHROPIC_API_KEY", answer: asTool("answer"), faults: claudeFaults},
	{vendor: "claude", transport: "cli", role: "orchestrate", plugin: "claude", program: e2e.Claude, api: "anthropic", model: "claude-sonnet-4-5", keyVar: "ANTHROPIC_API_KEY", answer: asTool("StructuredOutput"), faults: claudeFaults, keyFor: oauth},
	{vendor: "claude", transport: "cli", role: "build", plugin: "claude-code", program: e2e.Claude, api: "anthropic", model: "claude-sonnet-4-5", keyVar: "ANTHROPIC_API_KEY", answer: asTool("StructuredOutput"), faults: claudeFaults, keyFor: oauth,
		work: []string{`{"tool":{"name":"Read","input":{"file_path":"{{REPO}}/add.sh"}}}`, `{"tool":{"name":"Edit","input":{"file_path":"{{REPO}}/add.sh","old_string":"- $2","new_string":"+ $2"}}}`}},

	{vendor: "codex", transport: "api", role: "orchestrate", plugin: "codex", api: "openai", path: "/v1", model: "gpt-5.5", keyVar: "OPENAI_API_KEY", answer: asText, faults: codexFaults},
	{vendor: "codex", transport: "cli", role: "orchestrate", plugin: "codex", program: e2e.Codex, api: "openai", path: "/v1", model: "gpt-5.5", keyVar: "OPENAI_API_KEY", answer: asText, faults: codexFaults},
	{vendor: "codex", transport: "cli", role: "build", plugin: "codex-exec", program: e2e.Codex, api: "openai", path: "/v1", model: "gpt-5.5", keyVar: "OPENAI_API_KEY", answer: asText, faults: codexFaults,
		work: []string{`{"tool":{"name":"exec_command","input":{"cmd":"sed -i 's/- $2/+ $2/' add.sh"}}}`}},

	{vendor: "gemini", transport: "api", role: "orchestrate", plugin: "gemini", api: "gemini", model: "gemini-2.5-pro", keyVar: "GEMINI_API_KEY", answer: asText, faults: geminiFaults},
	{vendor: "gemini", transport: "cli", role: "orchestrate", plugin: "gemini", program: e2e.Gemini, api: "gemini", model: "gemini-2.5-pro", keyVar: "GEMINI_API_KEY", answer: asText, faults: geminiFaults},
	{vendor: "gemini", transport: "cli", role: "build", plugin: "gemini-cli", program: e2e.Gemini, api: "gemini", model: "gemini-2.5-pro", keyVar: "GEMINI_API_KEY", answer: asText, faults: geminiFaults,
		work: geminiWork},
	{vendor: "gemini", transport: "acp", role: "build", plugin: "acp", program: e2e.Gemini, api: "gemini", model: "gemini-2.5-pro", keyVar: "GEMINI_API_KEY", answer: asText, faults: geminiFaults,
		block: `"agent":[COMMAND,"--acp","--skip-trust","-e","none","-m","gemini-2.5-pro"],"env":{"GOOGLE_GEMINI_BASE_URL":SERVER,"GEMINI_CLI_NO_RELAUNCH":"true"}`,
		home: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},
			"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"hooksConfig":{"enabled":false}}`},
		work: geminiWork, only: []string{"good", "kill"}}, // the agent's own retries and errors are its own
}

var geminiWork = []string{`{"tool":{"name":"replace","input":{"file_path":"add.sh","instruction":"mend","old_string":"- $2","new_string":"+ $2"}}}`}

// outcome is what a case comes to.
type outcome struct {
	code string
	exit int
	says string // in the report, its why or its detail
}

// matrixCase is one thing that can happen to every way.
type matrixCase struct {
	name string
	// turn is the vendor's misbehaviour, before or instead of the good turns; "" for
	// cases that are no answer of a server.
	turn    string
	goesOn  bool // the good turns follow
	refused bool // nobody listens at the server
	kill    bool // the program, or the plugin where there is none, is killed while the model thinks
	plan    outcome
	build   outcome
	resets  bool // the report says until when
	slow    bool // it waits
}

var matrixCases = []matrixCase{
	{name: "good", goesOn: true, plan: outcome{"SUCCESS", 0, ""}, build: outcome{"SUCCESS", 0, ""}},
	{name: "bad key", turn: failing(401, ""), plan: outcome{"BLOCKED_AUTH", 3, "REASON_AUTH_REJECTED"}, build: outcome{"BLOCKED_AUTH", 3, "REASON_AUTH_REJECTED"}},
	{name: "rate limit", turn: `{"error":{"status":429,"headers":{"retry-after":"1"}}}`, goesOn: true, plan: outcome{"SUCCESS", 0, ""}, build: outcome{"SUCCESS", 0, ""}},
	{name: "usage limit", plan: outcome{"STOP_PROVIDER_QUOTA", 2, "REASON_QUOTA_EXHAUSTED"}, build: outcome{"STOP_PROVIDER_QUOTA", 2, "REASON_QUOTA_EXHAUSTED"}, resets: true},
	{name: "overload", slow: true, turn: failing(503, ""), plan: outcome{"STOP_INTERRUPTED", 2, "REASON_OVERLOADED"}, build: outcome{"STOP_INTERRUPTED", 2, "REASON_OVERLOADED"}},
	{name: "refused", slow: true, refused: true, plan: outcome{"STOP_INTERRUPTED", 2, "REASON_NETWORK"}, build: outcome{"STOP_INTERRUPTED", 2, "REASON_NETWORK"}},
	{name: "hang", slow: true, turn: `{"hang":true,"times":-1}`, plan: outcome{"STOP_INTERRUPTED", 2, "REASON_TIMEOUT"}, build: outcome{"STOP_BUILDER_TIMEOUT", 2, "REASON_TIMEOUT"}},
	{name: "kill", turn: `{"hang":true,"times":-1}`, kill: true, plan: outcome{"STOP_INTERRUPTED", 2, ""}, build: outcome{"STOP_INTERRUPTED", 2, ""}},
}

func (c matrixCase) outcome(w way) outcome {
	if o, ok := w.differ[c.name]; ok {
		return o
	}
	if c.kill && w.program == nil {
		return outcome{"STOP_PLUGIN_CRASHED", 2, ""} // the plugin itself is what was killed
	}
	if w.role == "build" {
		return c.build
	}
	return c.plan
}

// script are the turns of a case.
func (c matrixCase) script(w way, builder string) string {
	var turns []string
	if turn, own := w.faults[c.name], c.turn; turn != "" || own != "" {
		if turn == "" {
			turn = own
		}
		turns = append(turns, turn)
	}
	if c.goesOn {
		doc := matrixDone
		if w.role == "orchestrate" {
			doc = matrixTask(builder)
		}
		turns = append(append(turns, w.work...), w.answer(doc))
	}
	return fmt.Sprintf(`{%q:[%s]}`, w.api, strings.Join(turns, ","))
}
