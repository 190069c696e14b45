#!/bin/sh
head -c 2000000000 /dev/zero > "${TMPDIR:-/tmp}/full"; sleep 100
