// Package config is relay's configuration as one struct: found, layered, checked,
// and every value with its origin. Viper lays the layers over one another (layers.go);
// the table of keys, strict types, origins with lines and what a repository may not
// have are relay's own.
//
// It does not parse flags (cmd/relay), does not decide trust on its own (it
// computes the digest; host asks the operator), and keeps no secret: values are
// references (env:NAME, file:PATH).
//
// Callers: host and the workflows; nobody else.
package config
