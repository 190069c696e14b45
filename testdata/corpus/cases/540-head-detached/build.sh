#!/bin/sh
git checkout -q --detach; echo x >> src/a.txt
