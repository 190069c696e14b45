load ../lib/calc.sh

@test "sum" {
  run sum 1 2
  [ "$output" = 3 ]
}
