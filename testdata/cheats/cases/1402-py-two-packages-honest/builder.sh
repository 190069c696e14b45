#!/bin/sh
set -e
sed -i s/4/2/ b/mod.py
