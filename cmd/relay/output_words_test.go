package main

// fieldWords describe fields of documents that have the same meaning wherever they occur, and no
// comment of their own.
var fieldWords = map[string]string{
	"added": "Lines added.", "allow_lockfile_changes": "Whether lockfiles may change.", "allow_new_files": "Whether files may be created.",
	"allowed_globs": "Patterns of the paths that may change.", "at": "When it happened, in UTC.", "attempt": "The attempt's id: the task's, a dot and a number.",
	"base_commit": "The commit on which the work began.", "branch": "A branch; empty for a detached HEAD.",
	"bytes": "Size in bytes.", "calls": "Calls of models and builders.", "choices": "Answers that the question offers.",
	"code": "The verdict's code; relay explain CODE says what it means.", "command": "A command and its arguments.", "commit": "The full name of a commit.",
	"commits": "Full names of commits.", "cost_usd": "Known cost, in US dollars.", "deleted": "Lines deleted.", "diff_sha256": "SHA-256 of the change.",
	"dry_run": "Nothing was written.", "duration_ms": "Duration, in milliseconds.", "ended_at": "When it ended, in UTC.",
	"exit_code": "The exit code of the command that prints this.", "file": "A path, relative to the repository.",
	"files": "Files, or how many.", "forbidden_globs": "Patterns of paths that may never change.", "head_commit": "The commit that HEAD was at.",
	"input_tokens": "Tokens sent; null if unknown.", "intent": "What the task is to achieve, in one line.",
	"iteration": "The iteration, from 1.", "key": "A key of the configuration, or a public key.", "line": "The line, from 1.", "lines_added": "Lines added.",
	"lines_deleted": "Lines deleted.", "max": "The cap; 0 for none.", "max_files_touched": "The most files that may change.", "max_lines_changed": "The most lines that may change.",
	"milestone_id": "The milestone that it counts towards.", "model": "The model's name, as its provider reports it.", "ms": "Duration, in milliseconds.",
	"new_files": "Files that were created.", "next": "What to type next, a command first where there is one.", "notes": "What else a reader should know, a sentence each.",
	"ok": "Whether it passed.", "outcome": "How it ended.", "output_tokens": "Tokens received; null if unknown.", "pid": "The process's number on this machine.",
	"plugin": "The plugin's name.", "prompt": "The question's text.", "provider": "The provider's name.", "reason": "Why it ended, in one word.",
	"root": "The repository's root.", "round": "The round, from 1.", "run_id": "Identifies a run; relay show takes it.",
	"salvage": "The ref that keeps what was built.", "scope": "What may change.", "service_id": "The service's id.", "sha256": "SHA-256, in hexadecimal digits.", "since": "From when on, in UTC.",
	"started_at": "When it began, in UTC.", "summary": "One sentence about it.", "task_id": "The task's id.",
	"timed_out": "Whether its time limit ended it.", "unknown_cost_calls": "Calls that reported no cost; they are in no sum of dollars.",
	"unknown_token_calls": "Calls that reported no tokens.", "until": "The moment at which it ends, in UTC.", "used": "How much is used.", "uuid": "The cycle's id.", "verdict": "success, stop or blocked.",
	"warnings": "What may go wrong, a sentence each.", "what": "What happened.", "why": "Why, in one sentence.", "workflow": "What made the run.",
}
