. lib/human.sh
test "$(human 3145728)" = "3 MiB"
