#!/bin/sh
set -e
echo 'in scope' >> src/a.txt
rm build/latest build/abs; ln -s out.2 build/latest
rm -r .venv; mkdir -p .venv/bin; ln -s /usr/bin/python3 .venv/bin/python
rm .cache; mkdir -p .cache/tool; echo x > .cache/tool/x
