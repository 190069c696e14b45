#!/bin/sh
set -e
grep -q EVILPROMPT "$SAID"
