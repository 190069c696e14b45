#!/bin/sh
evil='printf "%s ran\n" "$0" >> "'"$RELAY_CANARY"'"; '
trap_in() { printf '#!/bin/sh\n%s%s\n' "$evil" "${2:-cat}" > "$1"; chmod 755 "$1"; }
for h in post-index-change reference-transaction post-commit pre-commit post-checkout; do trap_in tools/githooks/$h; done; echo more >> src/a.txt
