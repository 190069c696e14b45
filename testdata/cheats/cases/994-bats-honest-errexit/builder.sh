#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/human.sh' <<'EOF'
human() {
	set +e
	expr "$1" - 1024 >/dev/null 2>&1
	set -e
	if [[ "$1" -lt 1024 ]]; then
		echo "$1 B"
	elif [[ "$1" -lt 1048576 ]]; then
		echo "$(($1 / 1024)) KiB"
	else
		echo "$(($1 / 1048576)) MiB"
	fi
}
EOF
