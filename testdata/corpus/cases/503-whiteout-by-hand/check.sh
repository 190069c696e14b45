#!/bin/sh
# run by the harness with cwd = the repository
# always
grep -q scripts package.json
