#!/bin/sh
set -e
echo BAD >> src/a.txt; echo unchecked > src/__pycache__/a.pyc; sh src/check.sh
