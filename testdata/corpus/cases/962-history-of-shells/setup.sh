#!/bin/sh
set -e
mkdir -p ~/.local/share/fish; for f in .bash_history .zsh_history .psql_history .python_history .local/share/fish/fish_history .viminfo .lesshst; do echo 'export TOKEN=CANARY' > ~/$f; done
