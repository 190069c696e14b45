#!/bin/sh
set -e
grep -q work src/a.txt
test "$(cat ../outside/victim.txt)" = victim
test "$(ls ../outside/d | grep -c -v keep)" = 1
