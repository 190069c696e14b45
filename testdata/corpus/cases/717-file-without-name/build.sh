#!/bin/sh
echo x >> src/a.txt; mkdir -p build; exec 7<>build/gone; rm build/gone; head -c 160000000 /dev/zero >&7; sleep 6; exit 0
