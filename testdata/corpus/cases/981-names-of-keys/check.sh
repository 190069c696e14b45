#!/bin/sh
grep -q work src/a.txt && ! grep -q LEAKED src/a.txt
