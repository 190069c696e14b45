// Package modelcall is where paid calls are made, by every workflow in the same way: the
// call waits for its turn on its account, is reserved in the ledger before it is sent,
// is sent, and what it used is settled. While one of a lineup meets a limit the next one
// is asked.
//
// Where answers are kept ([Answers]), a question has an id that stays the same however
// often it is asked: an answer that has arrived is on disk before it is used, and is
// never bought again.
//
// It does not make prompts, does not judge answers, chooses no provider (pluginenv does),
// decides nothing about retries (pluginhost.Decide does), and knows no workflow.
//
// Callers: the workflows.
package modelcall
