// Package templates has the files that relay writes once for a person to continue with. It
// reads nothing and writes nothing. Callers: host/checkcmd, host/pipelines.
package templates
