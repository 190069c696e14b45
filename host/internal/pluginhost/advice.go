package pluginhost

import (
	"strconv"
	"strings"

	"github.com/paxiom/relay/host/internal/format"
	"github.com/paxiom/relay/sdk/pluginpb"
)

// What a plugin says is shown as the plugin's, in at most so many characters. What to do about
// it is said by relay alone, from the reason: people and agents type what a fix says.
const (
	saysSummary = 300
	saysDetail  = 2 << 10
	saysFix     = 500
)

// quoted makes text of a plugin fit to stand beside relay's own: one line without control
// characters, and without the backticks that mark a command.
func quoted(s string, limit int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "`", "'")
	s = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) && r != ' ' {
			return '\uFFFD'
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
	return format.Clip(s, limit)
}

// logins say how to log in with the vendors whose plugins come with relay.
var logins = map[string]string{
	"claude":      "`claude` logs in with /login; or set ANTHROPIC_API_KEY",
	"claude-code": "`claude` logs in with /login; or set ANTHROPIC_API_KEY",
	"codex":       "`codex login`; or set OPENAI_API_KEY",
	"codex-exec":  "`codex login`; or set OPENAI_API_KEY",
	"gemini":      "`gemini` logs in when it is started; or set GEMINI_API_KEY",
	"gemini-cli":  "`gemini` logs in when it is started; or set GEMINI_API_KEY",
}

// installs say how to get the programs of the plugins that come with relay.
var installs = map[string]string{
	"claude":      "`npm install -g @anthropic-ai/claude-code`, or set claude_code_cli.command to its path",
	"claude-code": "`npm install -g @anthropic-ai/claude-code`, or set claude_code_cli.command to its path",
	"codex":       "`npm install -g @openai/codex`, or set plugins.codex.command to its path",
	"codex-exec":  "`npm install -g @openai/codex`, or set plugins.codex-exec.command to its path",
	"gemini":      "`npm install -g @google/gemini-cli`, or set plugins.gemini.command to its path",
	"gemini-cli":  "`npm install -g @google/gemini-cli`, or set plugins.gemini-cli.command to its path",
}

// accounts are where the vendors show what an account may do and what it owes.
var accounts = map[string]string{
	"claude":      "https://console.anthropic.com/settings/billing",
	"claude-code": "https://console.anthropic.com/settings/billing",
	"codex":       "https://platform.openai.com/settings/organization/billing",
	"codex-exec":  "https://platform.openai.com/settings/organization/billing",
	"gemini":      "https://aistudio.google.com",
	"gemini-cli":  "https://aistudio.google.com",
}

// advice is what relay says to do about a reason that a plugin gives.
func advice(plugin string, reason pluginpb.Failure_Reason) string {
	switch reason {
	case pluginpb.Failure_REASON_NOT_LOGGED_IN, pluginpb.Failure_REASON_AUTH_REJECTED:
		if login := logins[plugin]; login != "" {
			return login + "; then `relay doctor` tries it"
		}
		return "`relay plugin info " + plugin + "` names the keys that it takes; log in with its program or set one of them, then `relay doctor` tries it"
	case pluginpb.Failure_REASON_BILLING, pluginpb.Failure_REASON_PERMISSION:
		if at := accounts[plugin]; at != "" {
			return "`relay doctor` tries it again once the account is in order: " + at
		}
		return "`relay doctor` tries it again once the account with its vendor is in order"
	case pluginpb.Failure_REASON_BAD_CONFIG, pluginpb.Failure_REASON_UNSUPPORTED:
		return "`relay config show plugins` shows its settings; correct plugins." + plugin + ", then `relay doctor` tries it"
	case pluginpb.Failure_REASON_TOOL_MISSING:
		if install := installs[plugin]; install != "" {
			return install + "; then `relay doctor` tries it"
		}
		return "`relay plugin info " + plugin + "` names the programs that it needs; install what is missing, then `relay doctor` tries it"
	case pluginpb.Failure_REASON_MODEL_UNKNOWN:
		return "`relay config show models` shows the model that is asked for; correct its name"
	case pluginpb.Failure_REASON_TOO_LARGE:
		return "`relay show` has the prompt; shorten FACTS.md and the prompt overrides, or take a model with a longer context"
	case pluginpb.Failure_REASON_LIMIT_REACHED:
		return "`relay config show builder` shows how many turns and dollars it has, box.limits.output_mb is how much it may print; raise the one that it reached"
	case pluginpb.Failure_REASON_QUOTA_EXHAUSTED, pluginpb.Failure_REASON_RATE_LIMITED, pluginpb.Failure_REASON_OVERLOADED, pluginpb.Failure_REASON_NETWORK:
		return "`relay run` again later; `relay loop` waits for it by itself"
	}
	return ""
}
