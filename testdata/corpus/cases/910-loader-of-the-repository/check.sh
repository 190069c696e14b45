#!/bin/sh
grep -q more src/a.txt
