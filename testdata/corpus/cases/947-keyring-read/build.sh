#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
[ "$(uname -m)" = x86_64 ] || exit 0
perl -e 'my ($t,$d)=("user","relay-corpus-read"); my @id=(syscall(250,10,-4,$t,$d,0), syscall(250,10,-5,$t,$d,0), syscall(249,$t,$d,0,-4), syscall(250,0,-4,0)); for my $i (@id) { next if $i <= 0; print "LEAKED\n"; }' | grep -q LEAKED && leak key; :
