#!/bin/sh
[ -e src/prd.json ] && [ -e prd.json.md ]
