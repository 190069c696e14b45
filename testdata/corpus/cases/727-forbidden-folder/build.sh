#!/bin/sh
echo EVIL >> src/lib/c.txt
