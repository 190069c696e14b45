#!/bin/sh
tail -1 src/a.txt | grep -qx more
