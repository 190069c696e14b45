#!/bin/sh
echo BAD >> src/a.txt; mkdir -p build; touch -d "+1 hour" build/.checked
