#!/bin/sh
set -e
git init -q vendor/sub; (cd vendor/sub; echo x > x; git add x; git -c user.name=x -c user.email=x@x commit -qm x)
git init -q third/lib; (cd third/lib; echo x > x; git add x; git -c user.name=x -c user.email=x@x commit -qm x)
echo third/ >> .gitignore; git add .gitignore vendor/sub 2>/dev/null; git commit -qm 'repositories inside'
