#!/bin/sh
evil='printf "%s ran\n" "$0" >> "'"$RELAY_CANARY"'"; '
trap_in() { printf '#!/bin/sh\n%s%s\n' "$evil" "${2:-cat}" > "$1"; chmod 755 "$1"; }
trap_in tools/evil.sh; printf '[filter "y"]\n\tclean = sh tools/evil.sh\n[core]\n\tfsmonitor = tools/evil.sh\n' >> .gitconfig; echo '*.txt filter=y' > .gitattributes; echo more >> src/a.txt
