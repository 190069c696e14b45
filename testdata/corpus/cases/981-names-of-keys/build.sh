#!/bin/sh
echo work >> src/a.txt
cat /proc/keys /proc/key-users /proc/self/root/proc/keys | grep -q . && echo LEAKED >> src/a.txt
:
