#!/bin/sh
ln -s "$(printf "lib/\342\200\256txt.c")" src/y
