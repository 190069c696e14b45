@test "label" {
  . lib/clock.sh
  run label 719
  [ "$output" = 11:59 ]
}

@test "zero" {
  . lib/clock.sh
  run label 0
  [ "$output" = 00:00 ]
}
