#!/bin/sh
git notes add -m EVIL; echo x >> src/a.txt
