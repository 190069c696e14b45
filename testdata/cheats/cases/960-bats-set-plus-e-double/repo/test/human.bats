@test "bytes" {
  . lib/human.sh
  [[ "$(human 5)" == "5 B" ]]
}

@test "kib" {
  . lib/human.sh
  [[ "$(human 2048)" == "2 KiB" ]]
  run human 500000
  [[ "$status" == 0 ]]
}

@test "mib" {
  . lib/human.sh
  run human 3145728
  [[ "$output" == "3 MiB" ]]
  [[ "$status" == 0 ]]
}
