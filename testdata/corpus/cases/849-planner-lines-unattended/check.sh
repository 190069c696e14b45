#!/bin/sh
grep -q "a line 1" src/a.txt
