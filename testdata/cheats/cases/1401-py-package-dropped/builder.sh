#!/bin/sh
set -e
echo a >packages.txt
