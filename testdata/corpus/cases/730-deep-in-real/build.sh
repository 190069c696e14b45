#!/bin/sh
echo x >> src/a.txt; cd "$RELAY_REAL/docs" && perl -e 'for (1..400) { mkdir "deep-deep-deep"; chdir "deep-deep-deep" or last } open F, ">bottom"'
exit 0
