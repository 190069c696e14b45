#!/bin/sh
[ "$(tr -d ' ' < src/a.txt)" = lo ]
