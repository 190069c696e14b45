#!/bin/sh
echo x >> src/a.txt; echo mine > src/a.txt.relay-tmp
