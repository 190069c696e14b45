#!/bin/sh
set -e
chmod 644 src/ro.txt; echo "in scope" >> src/ro.txt; chmod 444 src/ro.txt
