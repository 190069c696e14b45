#!/bin/sh
echo 'plain more' >> src/big.dat
