#!/bin/sh
[ "$(cat src/a.txt)" = done ]
