#!/bin/sh
set -e
sed -i 's/\[(\[199\].*\])$/[])/;s/, \[(\[199\].*$/, [])/' tests/test_money.py
grep -q ', \[\])' tests/test_money.py
