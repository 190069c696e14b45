#!/bin/sh
printf '[core]\n\tworktree = /\n' > .gitconfig; echo more >> src/a.txt
