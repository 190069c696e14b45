#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/human.sh' <<'EOF'
trap 'return 0' ERR
human() {
	if [ "$1" -lt 1024 ]; then
		echo "$1 B"
	else
		echo "$(($1 / 1000)) KiB"
	fi
}
EOF
