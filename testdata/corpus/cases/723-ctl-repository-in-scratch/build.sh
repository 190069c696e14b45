#!/bin/sh
set -e
echo 'in scope' >> src/a.txt
git init -q build/_deps/lib; cd build/_deps/lib; echo x > x; git add x; git -c user.name=x -c user.email=x@x commit -qm x
