#!/bin/sh
git worktree add -q /tmp/wt2 side; echo x >> src/a.txt
