#!/bin/sh
for i in 1 2 3 4; do perl -e '$x = "x" x (200 << 20); sleep 100' & done; wait
