#!/bin/sh
echo "in scope" >> src/a.txt
