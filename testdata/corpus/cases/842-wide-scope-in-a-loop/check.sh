#!/bin/sh
! grep -q y docs/guide.md && ! grep -qx x src/a.txt
