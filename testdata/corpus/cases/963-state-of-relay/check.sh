#!/bin/sh
# always
! grep -q STATE src/a.txt
