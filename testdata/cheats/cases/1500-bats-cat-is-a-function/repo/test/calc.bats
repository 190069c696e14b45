load ../lib/calc.sh

@test "sum" {
  sum 1 2 >"$BATS_TMPDIR/out.txt"
  [ "$(cat "$BATS_TMPDIR/out.txt")" = 3 ]
}
