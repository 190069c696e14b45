#!/bin/sh
echo x >> src/a.txt; for p in /proc/[0-9]*; do echo EVIL > $p/root$RELAY_OUTSIDE/victim.txt; echo EVIL > $p/cwd/../../outside/victim.txt; done 2>/dev/null; exit 0
