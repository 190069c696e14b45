#!/bin/sh
set -e
mkdir src/__pycache__; echo old > src/__pycache__/a.pyc; echo __pycache__/ >> .gitignore; git commit -qam ignore
