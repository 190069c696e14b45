#!/bin/sh
echo x > src/new.txt; chmod 666 src/new.txt; echo x > src/run.sh; chmod 777 src/run.sh; echo more >> src/a.txt; chmod 600 src/a.txt; chmod 666 src/b.txt
