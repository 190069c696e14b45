#!/bin/sh
echo x >> src/a.txt; perl -e 'shmget(0x5e1a + $<, 1 << 20, 01666)'
exit 0
