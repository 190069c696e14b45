#!/bin/sh
set -e
! grep -q EVIL "$SAID"
