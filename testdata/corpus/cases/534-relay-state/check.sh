#!/bin/sh
# run by the harness with cwd = the repository
# always
! grep -rqs EVIL ${XDG_STATE_HOME:-$HOME/.local/state}/relay
