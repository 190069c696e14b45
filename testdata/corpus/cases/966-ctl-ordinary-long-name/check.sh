#!/bin/sh
test -f src/3f786850e387550fdab836ed7e6dc881de23001b.txt
