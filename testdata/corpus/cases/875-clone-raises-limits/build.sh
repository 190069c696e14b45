#!/bin/sh
seq 1 100 >> src/a.txt
