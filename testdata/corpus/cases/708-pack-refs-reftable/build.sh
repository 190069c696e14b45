#!/bin/sh
echo x >> src/a.txt; git pack-refs --all; old=$(git rev-parse HEAD~1); sed -i "s/^[0-9a-f]* refs.heads.main$/$old refs\/heads\/main/" .git/packed-refs
