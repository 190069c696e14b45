#!/bin/sh
# The test of add.sh.
got=$(sh ./add.sh 2 3)
[ "$got" = 5 ] && exit 0
echo "add.sh 2 3 prints $got, want 5"
exit 1
