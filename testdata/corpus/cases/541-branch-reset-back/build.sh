#!/bin/sh
git reset -q --soft HEAD~1; echo x >> src/a.txt
