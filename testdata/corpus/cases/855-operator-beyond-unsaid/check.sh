#!/bin/sh
! grep -q y docs/guide.md && grep -q -- --beyond-ceiling "$SAID"
