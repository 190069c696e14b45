#!/bin/sh
echo good > src/b.txt; echo BAD >> src/a.txt
