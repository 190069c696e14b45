// Package httpjson asks an HTTP API that speaks JSON, and says what went wrong as relay
// wants to hear it: a [sdk.Failure] with its reason, what to wait for, and whether anything
// was charged.
//
// It classifies by status codes and headers alone, since what vendors write into the bodies
// differs; a plugin that knows more changes the Failure before it returns it. It repeats
// nothing and knows no vendor.
//
// Callers: providers, those of relay's own as well.
package httpjson
