#!/bin/sh
set -e
mkdir -p build/out.1 build/out.2 .venv/bin; ln -s out.1 build/latest; ln -s /usr/bin/env build/abs
ln -s /usr/bin/python3.9 .venv/bin/python; ln -s ../outside .cache
printf '.venv/\n.cache\n' >> .gitignore; git commit -qam ignore
