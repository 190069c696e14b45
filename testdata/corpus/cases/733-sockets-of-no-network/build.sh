#!/bin/sh
perl -e 'for $f (3..9, 11..15, 18..46) { for (1..5) { socket(my $s, $f, $_, 0) and print "family $f\n" } } $p = "\0" x 200; $r = syscall(425, 4, $p); print "io_uring $r\n" if $r >= 0; print "done\n"' > src/a.txt 2>&1
