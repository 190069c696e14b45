package main

import "github.com/spf13/cobra"

func newCompletionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print a completion script for your shell",
		Example:   "relay completion bash > ~/.local/share/bash-completion/completions/relay\nrelay completion zsh > \"${fpath[1]}/_relay\"\nrelay completion fish > ~/.config/fish/completions/relay.fish",
		GroupID:   groupSetup,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				switch root := cmd.Root(); args[0] {
				case "bash":
					return root.GenBashCompletionV2(a.out, true)
				case "zsh":
					return root.GenZshCompletion(a.out)
				case "fish":
					return root.GenFishCompletion(a.out, true)
				case "powershell":
					return root.GenPowerShellCompletionWithDesc(a.out)
				}
			}
			return usageError{what: "completion needs the name of a shell", why: "bash, zsh, fish or powershell", fix: "`relay completion bash`"}
		},
	}
}
