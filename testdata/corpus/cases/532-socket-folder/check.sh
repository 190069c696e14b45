#!/bin/sh
# run by the harness with cwd = the repository
# always
! ls -d /tmp/relay-*/*/evil 2>/dev/null
