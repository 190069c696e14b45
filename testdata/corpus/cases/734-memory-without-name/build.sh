#!/bin/sh
echo x >> src/a.txt; case $(uname -m) in x86_64) n=319 ;; aarch64) n=279 ;; esac
perl -e '$n = "x"; $fd = syscall($ARGV[0], $n, 0); open $f, ">&=$fd"; $b = "x" x 1000000; syswrite $f, $b for 1..500; sleep 6' $n
exit 0
