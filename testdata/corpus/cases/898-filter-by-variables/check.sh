#!/bin/sh
# run by the harness with cwd = repo after a success verdict
git cat-file blob HEAD:src/big.dat | grep -q '^ptr more'
