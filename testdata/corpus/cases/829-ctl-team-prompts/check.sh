#!/bin/sh
set -e
grep -q work src/a.txt
