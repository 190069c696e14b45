#!/bin/sh
perl -e 'for my $d (0..59) { mkdir "src/n$d"; for (1..1000) { open F,">","src/n$d/$_"; } }'
