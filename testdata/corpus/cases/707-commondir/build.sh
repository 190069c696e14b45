#!/bin/sh
echo x >> src/a.txt; d=$(mktemp -d); git clone -q --bare . $d/g; echo $d/g > .git/commondir
