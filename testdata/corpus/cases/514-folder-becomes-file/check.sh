#!/bin/sh
# run by the harness with cwd = the repository
test -f src/lib
