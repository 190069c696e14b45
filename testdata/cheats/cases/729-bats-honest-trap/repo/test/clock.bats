@test "label" {
  . lib/clock.sh
  [ "$(label 719)" = 11:59 ]
}

@test "zero" {
  . lib/clock.sh
  [ "$(label 0)" = 00:00 ]
}
