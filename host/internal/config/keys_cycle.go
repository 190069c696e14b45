package config

import "net/url"

// cycleKeys concern all audit cycles of a repository; a service's own keys are in its
// file, see serviceKeys.
var cycleKeys = []key{
	{path: "notify.desktop", kind: kBool, def: true, narrow: harmless, doc: "Whether notify-send, if installed, tells you that a cycle or a task waits for you, a task failed, a push was refused, or a loop or a pipeline has ended.", read: "notify"},
	{path: "notify.bell", kind: kBool, def: true, narrow: harmless, doc: "Whether the terminal's bell rings when a cycle waits for you.", read: "notify"},
	{path: "notify.command", kind: kTexts, def: []string{}, max: 40, check: hook, narrow: users, doc: "A program with arguments that is started at the same moments, with one JSON object on its standard input: for chat or a phone. Empty for none.", read: "notify"},
	{path: "notify.ntfy", kind: kRef, narrow: owners, doc: "Where to find the address of an ntfy topic, such as https://ntfy.sh/TOPIC, to which messages are published.", read: "notify"},
	{path: "notify.slack", kind: kRef, narrow: owners, doc: "Where to find the address of a Slack incoming webhook.", read: "notify"},
	{path: "notify.telegram", kind: kRef, narrow: owners, doc: "Where to find the address of a Telegram bot: https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID.", read: "notify"},
	{path: "notify.webhook", kind: kRef, narrow: owners, doc: "Where to find the address of a web server that accepts the JSON object of notify.command.", read: "notify"},
	{path: "telemetry.traces", kind: kText, def: "off", enum: []string{"off", "otlp"}, narrow: owners, doc: "otlp sends OpenTelemetry spans of runs, states and calls to a collector, without any text of prompts, answers or files.", read: "telemetry"},
	{path: "telemetry.endpoint", kind: kText, def: "", max: 300, check: webAddress, narrow: owners, doc: "Base address of a collector for OTLP over HTTP; \"\" takes OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318.", read: "telemetry"},
	{path: "cycles.max_worktrees", kind: kWhole, def: 8, min: 1, max: 100, narrow: atMost, why: "takes more of your disk", doc: "Maximum number of cycles' work trees, including those in use.", read: "cycle"},
	{path: "cycles.worktrees_max_mb", kind: kWhole, def: 10000, min: 1, max: 1e7, narrow: atMost, why: "takes more of your disk", doc: "Size of all of them together, in megabytes, above which no cycle starts.", read: "cycle"},
}

// hook checks an argv that may be empty.
func hook(v any) string {
	list := v.([]*node)
	if len(list) == 0 {
		return ""
	}
	return program(list[0].v)
}

// webAddress holds for an address of http or https, or none.
func webAddress(v any) string {
	u, err := url.Parse(v.(string))
	if v.(string) != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return "must be an address such as \"http://localhost:4318\""
	}
	return oneLine(v)
}
