#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
[ "$(uname -m)" = x86_64 ] || exit 0
perl -e 'my ($t,$d,$p)=("user","relay-corpus-planted","x"); for my $ring (-1,-2,-3,-4,-5) { print "LEAKED\n" if syscall(248,$t,$d,$p,1,$ring) > 0 }' | grep -q LEAKED && leak planted; :
