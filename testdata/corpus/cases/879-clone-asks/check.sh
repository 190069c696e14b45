#!/bin/sh
! grep -qx x src/a.txt && grep -q default_forbidden_globs "$SAID"
