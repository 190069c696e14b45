#!/bin/sh
grep -q "in scope" src/a.txt && ! grep -q "in scope" docs/linked.txt
