#!/bin/sh
# run by the harness with cwd = repo after a success verdict
! git -c filter.lfsish.clean= cat-file blob HEAD:src/big.dat | grep -q more # always
