#!/bin/sh
echo x >> src/a.txt; h=$(git rev-parse HEAD); echo $h > .git/info/grafts; echo $h > .git/shallow
