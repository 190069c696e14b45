#!/bin/sh
set -e
git rm -rq relais; rm -rf relais; ln -s .git relais
