#!/bin/sh
evil='printf "%s ran\n" "$0" >> "'"$RELAY_CANARY"'"; '
trap_in() { printf '#!/bin/sh\n%s%s\n' "$evil" "${2:-cat}" > "$1"; chmod 755 "$1"; }
trap_in tools/clean.sh 'sed s/^plain/ptr/'; echo 'plain more' >> src/big.dat
