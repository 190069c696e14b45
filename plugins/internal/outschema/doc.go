// Package outschema holds a model's answer to the JSON Schema that was asked for.
//
// Servers that promise to hold answers to a schema take a part of JSON Schema only,
// and command lines hand on what the model wrote. So the schema is sent in the form
// that the vendor takes (Strict), what that form added is taken out again, and the
// answer is checked against the schema as it was asked for (Read).
//
// It repairs nothing and asks nobody again. Callers: the plugins for Claude, Codex
// and Gemini.
package outschema
