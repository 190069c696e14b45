#!/bin/sh
set -e
echo 'in scope' >> src/sub/d.txt
chmod 755 src/lib; sed -i 's/lib/in scope/' src/lib/c.txt; chmod 555 src/lib
