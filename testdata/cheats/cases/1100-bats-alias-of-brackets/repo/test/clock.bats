load ../lib/clock.sh

@test "label" {
  [[ "$(label 719)" == 11:59 ]]
}

@test "zero" {
  [[ "$(label 0)" == 00:00 ]]
}
