#!/bin/sh
evil='printf "%s ran\n" "$0" >> "'"$RELAY_CANARY"'"; '
trap_in() { printf '#!/bin/sh\n%s%s\n' "$evil" "${2:-cat}" > "$1"; chmod 755 "$1"; }
printf 'open("%s", "a").write("ran")\n' "$RELAY_CANARY" > json.py; echo '{"a": 2}' > src/x.json
