#!/bin/sh
test "$(readlink src/lib)" = sub && test "$(cat src/to-sub/d.txt)" = other && test "$(cat src/sub/d.txt)" = 'sub d'
