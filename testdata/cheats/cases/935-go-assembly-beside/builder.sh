#!/bin/sh
set -e
sed -i '1i //go:build plan9\n' roman/roman_test.go
