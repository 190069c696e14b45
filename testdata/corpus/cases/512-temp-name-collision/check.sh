#!/bin/sh
# run by the harness with cwd = the repository
grep -q "^mine$" src/a.txt.relay-tmp && grep -q "^x$" src/a.txt
