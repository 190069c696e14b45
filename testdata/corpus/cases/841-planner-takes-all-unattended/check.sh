#!/bin/sh
grep -q "exit 1" ci/test.sh && ! grep -q more docs/guide.md && [ ! -e docs/new.md ]
