#!/bin/sh
evil='printf "%s ran\n" "$0" >> "'"$RELAY_CANARY"'"; '
trap_in() { printf '#!/bin/sh\n%s%s\n' "$evil" "${2:-cat}" > "$1"; chmod 755 "$1"; }
mkdir -p bin; trap_in bin/git 'exec /usr/bin/git "$@"'; cp bin/git git; echo more >> src/a.txt
