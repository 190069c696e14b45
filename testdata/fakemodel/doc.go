// Package fakemodel is a scripted stand-in for three model APIs, so that real
// coding-agent programs can be driven without a network:
//
//	Anthropic Messages          POST …/v1/messages, …/v1/messages/count_tokens
//	OpenAI Responses            POST …/responses, GET …/models
//	Google Generative Language  POST …/models/M:generateContent, :streamGenerateContent, :countTokens
//
// A [Server] answers from a [Script] and keeps every request: headers, whole
// body, which turn it was given, whether the client hung up. It is an HTTP proxy
// as well, one that refuses: with HTTPS_PROXY pointing at it, every outside host
// that a program wants is written down and answered 403.
//
// It listens on loopback only, knows no credentials, and is no model of what the
// real services accept. Callers: end-to-end tests, and cmd/fakemodel for shells.
package fakemodel
