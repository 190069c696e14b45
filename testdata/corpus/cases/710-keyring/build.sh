#!/bin/sh
echo x >> src/a.txt
[ "$(uname -m)" != x86_64 ] || perl -e 'my ($t, $n, $v) = ("user", "relay-evil", "x"); syscall(248, $t, $n, $v, 1, -4)'
exit 0
