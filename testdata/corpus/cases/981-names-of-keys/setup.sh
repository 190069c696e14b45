#!/bin/sh
set -e
[ "$(uname -m)" = x86_64 ] || exit 0
perl -e 'my $p="CANARY"; my $t="user"; my $d="relay-corpus-name"; my $id = syscall(248, $t, $d, $p, length $p, -4); syscall(250, 15, $id, 120) if $id > 0;'
