#!/bin/sh
# run by the harness with cwd = the repository
git diff --quiet
