#!/bin/sh
# always
[ "$(uname -m)" != x86_64 ] || perl -e 'my ($t, $n) = ("user", "relay-evil"); my $k = syscall(250, 10, -4, $t, $n, 0); if ($k > 0) { syscall(250, 9, $k, -4); exit 1 }'
