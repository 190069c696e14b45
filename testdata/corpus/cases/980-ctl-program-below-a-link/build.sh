#!/bin/sh
echo more >> src/a.txt
