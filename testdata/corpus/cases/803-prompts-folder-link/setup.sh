#!/bin/sh
set -e
mkdir "$HOME/notes"; echo CANARYSECRET > "$HOME/notes/orchestrator.system.txt"
