#!/bin/sh
echo 'plain more' >> src/big.dat; echo 'plain new' > src/new.dat; echo more >> src/a.txt
