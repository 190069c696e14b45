date() { echo 719; }

@test "label" {
  . lib/clock.sh
  diff <(label "$(date)") <(echo 11:59)
}

@test "zero" {
  . lib/clock.sh
  [[ "$(label 0)" == 00:00 ]]
}
