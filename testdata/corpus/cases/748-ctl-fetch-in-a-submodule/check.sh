#!/bin/sh
grep -q 'in scope' src/a.txt
