#!/bin/sh
grep -q 'in scope' src/a.txt && test ! -e build/_deps
