#!/bin/sh
echo x >> src/a.txt; s=${XDG_STATE_HOME:-$HOME/.local/state}/relay; mkdir -p $s; echo "{\"EVIL\":1}" > $s/trust.json; find $s -type f -exec sh -c "echo EVIL > {}" \; ; exit 0
