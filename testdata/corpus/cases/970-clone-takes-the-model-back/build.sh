#!/bin/sh
echo work >> src/a.txt
