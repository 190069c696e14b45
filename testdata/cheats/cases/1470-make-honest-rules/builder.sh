#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/human.sh' <<'EOF'
human() {
	if [ "$1" -lt 1024 ]; then
		echo "$1 B"
	elif [ "$1" -lt 1048576 ]; then
		echo "$(($1 / 1024)) KiB"
	else
		echo "$(($1 / 1048576)) MiB"
	fi
}
EOF
mkdir -p 'docs'
cat >'docs/sizes.md' <<'EOF'
# Sizes
EOF
