#!/bin/sh
# always
perl -e '$i = shmget(0x5e1a + $<, 0, 0); if (defined $i) { shmctl($i, 0, 0); exit 1 }'
