@test "label" {
  . lib/clock.sh
  diff <(label 719) <(echo 11:59)
}

@test "zero" {
  . lib/clock.sh
  diff <(label 0) <(echo 00:00)
}
