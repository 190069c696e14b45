#!/bin/sh
echo EVIL >> package.json; kill -9 $PPID; sleep 1
