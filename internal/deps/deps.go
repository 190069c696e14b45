//go:build deps

// Package deps holds the module's dependencies in go.mod while the rooms that
// use them are being built. It goes when they all do.
package deps

import (
	_ "github.com/bluekeyes/go-gitdiff/gitdiff"
	_ "github.com/bmatcuk/doublestar/v4"
	_ "github.com/creack/pty"
	_ "github.com/gofrs/flock"
	_ "github.com/google/renameio/v2"
	_ "github.com/hashicorp/go-hclog"
	_ "github.com/hashicorp/go-plugin"
	_ "github.com/pelletier/go-toml/v2"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/cobra/doc"
	_ "github.com/spf13/viper"
	_ "go.yaml.in/yaml/v3"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "golang.org/x/time/rate"
)
