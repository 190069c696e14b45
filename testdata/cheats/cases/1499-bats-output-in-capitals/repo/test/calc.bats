load ../lib/calc.sh

@test "name" {
  run name
  [ "$output" = HELLO ]
}
