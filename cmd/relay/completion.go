package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// completion is how one shell completes relay's commands.
type completion struct {
	shell string
	file  string // below a prefix's share, where the shell looks for it; "" for none
	write func(*cobra.Command, io.Writer) error
}

var completions = []completion{
	{"bash", "bash-completion/completions/relay", func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) }},
	{"zsh", "zsh/site-functions/_relay", (*cobra.Command).GenZshCompletion},
	{"fish", "fish/vendor_completions.d/relay.fish", func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) }},
	{"powershell", "", (*cobra.Command).GenPowerShellCompletionWithDesc},
}

func (c completion) writeFile(root *cobra.Command, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(c.write(root, f), f.Close())
}

func newCompletionCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "completion bash|zsh|fish|powershell",
		Short:   "Print a completion script for your shell",
		Long:    "Prints a completion script for your shell: commands, flags, and the ids of runs, cycles and\ntasks. That of bash needs bash's package bash-completion. make install and the archives\nbring those of bash, zsh and fish along.",
		Example: "relay completion bash > ~/.local/share/bash-completion/completions/relay\nrelay completion zsh > \"${fpath[1]}/_relay\"\nrelay completion fish > ~/.config/fish/completions/relay.fish",
		GroupID: groupSetup,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, c := range completions {
				if len(args) == 1 && args[0] == c.shell && a.json {
					return usageError{what: "a completion script is not JSON", fix: "`relay completion " + c.shell + "`"}
				}
				if len(args) == 1 && args[0] == c.shell {
					return c.write(cmd.Root(), a.out)
				}
			}
			return usageError{what: "completion needs the name of a shell", why: "bash, zsh, fish or powershell", fix: "`relay completion bash`"}
		},
	}
	for _, c := range completions {
		cmd.ValidArgs = append(cmd.ValidArgs, c.shell)
	}
	return cmd
}
