package plugintest

// Rules are all rules of the protocol, in the order in which they are tried. The
// author's guide and `relay plugin verify` show the same list.
var Rules = []Rule{
	{"B1", "GetInfo answers within 2 s and before Configure, with no network, no credentials and no files.", checkInfoAlone},
	{"B2", "GetInfo gives the same answer each time, the one that --info prints and that the lock file holds.", checkInfoStable},
	{"B3", "The configuration schema is a self-contained JSON Schema 2020-12 of at most 256 KiB in which every property has a description.", checkSchema},
	{"B4", "Configure works once; a second call fails with BAD_CONFIG.", checkConfigureOnce},
	{"B5", "Fields, enum values and parts that the plugin does not know are ignored.", checkGrease},
	{"S1", "The first event of a call is started; the last is completed or failure; nothing comes after it.", checkFirstAndLast},
	{"S2", "The events of a call are numbered 1, 2, 3 without a gap.", checkNumbers},
	{"S3", "Usage is a total that never goes down, and the one of the last event is the largest.", checkUsage},
	{"S4", "A running call is never silent for more than 15 s.", checkSilence},
	{"S5", "After a cancel the handler returns within 2 s, and no child process is left.", checkCancel},
	{"S6", "A completion fits the output schema that was asked for, or the call fails with BAD_OUTPUT.", checkOutputSchema},
	{"F1", "A failure has a reason, a summary of one line and at most 200 bytes, and a fix when the user can act.", checkFailureText},
	{"F2", "RATE_LIMITED carries retry_after; QUOTA_EXHAUSTED carries a reset_at in the future, or none when the upstream does not say.", checkFailureTimes},
	{"F3", "A failure says which effect it had: NONE, CHARGED, CHANGED or UNKNOWN.", checkFailureEffect},
	{"P1", "Standard output carries the handshake and nothing else, and no secret comes out in an event, a log line or an error.", checkOutputs},
	{"P2", "The plugin reads no environment variable that it has not declared.", checkEnvironment},
	{"P3", "The plugin exits within the grace period of Drain, and within 2 s when its standard input closes, with all that it started.", checkExit},
	{"P4", "The plugin writes only below its state and work folders and, as a builder, the workspace.", checkWrites},
}
