#!/bin/sh
printf 'exit 1\n# nothing to see\n' > src/check.sh; echo BAD >> src/a.txt
