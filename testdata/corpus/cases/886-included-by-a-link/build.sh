#!/bin/sh
printf '[core]\n\tworktree = /\n' >> tools/settings; echo more >> src/a.txt
