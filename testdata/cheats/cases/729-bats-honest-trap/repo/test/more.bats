@test "scratch" {
  . lib/clock.sh
  [ "$(label 3)" = 00:03 ]
}
