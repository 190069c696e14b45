#!/bin/sh
set -e
git init -q ../sub; (cd ../sub; echo s > s; git add s; git -c user.name=x -c user.email=x@x commit -qm s)
git -c protocol.file.allow=always submodule add -q "$PWD/../sub" vendor/sub; git commit -qm sub
