package plugintest

import "strings"

// Rules are all rules of the protocol, in the order in which they are tried. The
// author's guide, `relay plugin test` and `relay plugin verify` show the same list.
var Rules = []Rule{
	{
		ID:   "B1",
		Text: "GetInfo answers within 2 s and before Configure, with no network, no credentials and no files.",
		Help: "relay asks a plugin what it is before anybody trusts it, in an empty box. Answer from constants: look for programs, keys and folders in Health, and read the configuration in Configure.",

		Check: checkInfoAlone,
	},
	{
		ID:   "B2",
		Text: "GetInfo gives the same answer each time, the one that --info prints and that the lock file holds.",
		Help: "The answer is pinned and granted, so it must not depend on the environment, the clock or the machine. A list built from a map has a different order each time: sort it.",

		Check: checkInfoStable,
	},
	{
		ID:   "B3",
		Text: "The configuration schema is a self-contained JSON Schema 2020-12 of at most 256 KiB in which every property has a description.",
		Help: "The host checks a user's configuration by it before the plugin starts, and editors show the descriptions. References may point inside the schema only.",

		Check: checkSchema,
	},
	{
		ID:   "B4",
		Text: "Configure works once; a second call fails with BAD_CONFIG.",
		Help: "A plugin that could be configured again would answer calls by two configurations. The SDK does this for you; in another language, remember that Configure was called, and answer with a Failure that has a fix.",

		Check: checkConfigureOnce,
	},
	{
		ID:   "B5",
		Text: "Fields, enum values, parts and calls that the plugin does not know are ignored, and a host that also speaks newer protocols is served.",
		Help: "A newer relay sends more than your plugin knows. Skip parts of an unknown kind instead of failing, answer unknown calls with UNIMPLEMENTED (gRPC does), and look for your own version among PLUGIN_PROTOCOL_VERSIONS, a list with commas.",

		Check: checkGrease,
	},
	{
		ID:   "S1",
		Text: "The first event of a call is started; the last is completed or failure; nothing comes after it.",
		Help: "A gRPC status other than OK means that the plugin itself is broken, so errors of an upstream end as a failure event. A server whose limit for messages is gRPC's own 4 MiB breaks this rule with the largest message: set 32 MiB.",

		Check: checkFirstAndLast,
	},
	{
		ID:   "S2",
		Text: "The events of a call are numbered 1, 2, 3 without a gap.",
		Help: "The numbers show the host that nothing was lost. If several threads send events, assign the number where you send, under one lock.",

		Check: checkNumbers,
	},
	{
		ID:   "S3",
		Text: "Usage is a total that never goes down, and the one of the last event is the largest.",
		Help: "Send sums, not differences, and repeat in the last event what was known before. Leave out what you don't know: absent is unknown, which is not 0.",

		Check: checkUsage,
	},
	{
		ID:   "S4",
		Text: "A running call is never silent for more than 15 s.",
		Help: "Silence means that the plugin hangs, and the host ends it. Send a heartbeat after 10 s without another event, from a thread of its own.",

		Check: checkSilence,
	},
	{
		ID:   "S5",
		Text: "After a cancel the handler returns within 2 s, and no child process is left.",
		Help: "Hand the call's context on to every request and wait, and start programs with sdk.RunCLI, which ends them with all that they started. In process a goroutine that stays counts as well.",

		Check: checkCancel,
	},
	{
		ID:   "S6",
		Text: "A completion fits the output schema that was asked for, or the call fails with BAD_OUTPUT.",
		Help: "Set the capability output_schema only when you hold answers to it. Check what the model gave before you complete, and set output_json only when a schema was asked for.",

		Check: checkOutputSchema,
	},
	{
		ID:   "S7",
		Text: "One process answers call after call, several at once if it says concurrent, and no call leaves a process, an open file or a goroutine behind.",
		Help: "A provider keeps running between calls. Close what a call opened (including the body of each HTTP response), wait for the programs that it started, and guard what calls share.",

		Check: checkReuse,
	},
	{
		ID:   "F1",
		Text: "A failure has a reason, a summary of one line and at most 200 bytes, and a fix when the user can act.",
		Help: "The summary is what a person sees first; the detail has the rest. NOT_LOGGED_IN, AUTH_REJECTED, BILLING, PERMISSION, BAD_CONFIG and TOOL_MISSING need a fix: the command to type.",

		Check: checkFailureText,
	},
	{
		ID:   "F2",
		Text: "RATE_LIMITED carries retry_after; QUOTA_EXHAUSTED carries a reset_at in the future, or none when the upstream does not say.",
		Help: "These facts decide how long the host waits. RATE_LIMITED is for waits of seconds or minutes; if the upstream does not say how long, estimate it.",

		Check: checkFailureTimes,
	},
	{
		ID:   "F3",
		Text: "A failure says which effect it had: NONE, CHARGED, CHANGED or UNKNOWN.",
		Help: "The effect decides whether a call is repeated. NONE: the upstream refused before any work. CHARGED: tokens were used. CHANGED: files were changed. UNKNOWN: you can't tell.",

		Check: checkFailureEffect,
	},
	{
		ID:   "P1",
		Text: "Standard output carries the handshake and nothing else, and no secret comes out in an event, a log line or an error.",
		Help: "Print and log to standard error. Take keys out of the messages of HTTP libraries before you pass them on; do not log requests with their headers.",

		Check: checkOutputs,
	},
	{
		ID:   "P2",
		Text: "The plugin reads no environment variable that it has not declared.",
		Help: "When relay starts the plugin, undeclared variables are missing. List what you need in Info.Env, which a person then grants; pass keys as arguments to vendor SDKs that would look for them in the environment.",

		Check: checkEnvironment,
	},
	{
		ID:   "P3",
		Text: "The plugin exits within the grace period of Drain, and within 2 s when its standard input closes or its host calls Shutdown, with all that it started.",
		Help: "Standard input closes when relay is gone, also by kill -9. Read it in a thread; at its end cancel the work, end all children and exit.",

		Check: checkExit,
	},
	{
		ID:   "P4",
		Text: "The plugin writes only below its state and work folders and, as a builder, the workspace.",
		Help: "Configure names the folders, and TMPDIR is one of them. HOME and the current folder are not yours: point the caches of tools and libraries at the work folder. HomeFiles lists what a program that you drive can't be kept from writing.",

		Check: checkWrites,
	},
	{
		ID:   "P5",
		Text: "The plugin serves the host that started it and nobody else: mutual TLS on a unix socket in its own folder, with go-plugin's health service.",
		Help: "The host's certificate is in PLUGIN_CLIENT_CERT; yours is the sixth field of the handshake. Require the client's certificate and trust only that one. The health service says SERVING for \"plugin\".",

		Check: checkHostOnly,
	},
}

// Guide is where the rule is explained, with how to fix it.
func (r Rule) Guide() string { return guide(r.ID) }

// guide is the author's guide on a rule, or on cases.
func guide(id string) string {
	return "https://github.com/paxiom/relay/blob/main/docs/plugin-authors/rules.md#" + strings.ToLower(id)
}
