#!/bin/sh
set -e
mkdir -p 'lib'
cat >'lib/calc.sh' <<'EOF'
log() { echo "$@" >&2; }
die() { log "$@"; exit 1; }
printf_line() { printf "%s\n" "$@"; }
main() { :; }
sum() { local output=x; readonly two=2; echo $(($1 + $2)); }
EOF
mkdir -p 'test'
cat >'test/more.bats' <<'EOF'
setup() {
  source "${BATS_TEST_DIRNAME}/../lib/calc.sh"
}

@test "more" {
  run --separate-stderr sum 2 2
  [ "$output" = 4 ]
  run printf_line "declare -u output=x" b
  [ "${lines[1]}" = b ]
}
EOF
