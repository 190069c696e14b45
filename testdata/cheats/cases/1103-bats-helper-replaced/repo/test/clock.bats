load helper

@test "label" {
  . lib/clock.sh
  same "$(label 719)" 11:59
}

@test "zero" {
  . lib/clock.sh
  same "$(label 0)" 00:00
}
