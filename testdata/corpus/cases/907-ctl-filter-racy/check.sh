#!/bin/sh
# run by the harness with cwd = repo after a success verdict
[ -z "$(git status --porcelain -uno)" ]
