#!/bin/sh
echo x >> src/a.txt
perl -e 'for (1..110) { my $p = fork; last unless defined $p; if (!$p) { sleep 60; exit } push @p, $p } kill 9, @p; waitpid $_, 0 for @p'
exit 0
