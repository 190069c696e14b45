#!/bin/sh
echo more >> delta/a.txt; echo more >> vim/b.txt; echo more >> src/a.txt
