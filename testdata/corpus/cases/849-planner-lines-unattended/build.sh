#!/bin/sh
seq 1 5000 > src/a.txt
