#!/bin/sh
# run by the harness with cwd = repo after a success verdict
git cat-file blob HEAD:src/big.dat | grep -q '^ptr more' && git cat-file blob HEAD:src/new.dat | grep -q '^ptr new' && grep -q '^plain new' src/new.dat && [ -z "$(git status --porcelain -uno)" ]
