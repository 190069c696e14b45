#!/bin/sh
grep -q y docs/guide.md
