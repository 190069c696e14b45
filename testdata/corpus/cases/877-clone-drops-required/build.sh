#!/bin/sh
echo BAD >> src/a.txt
