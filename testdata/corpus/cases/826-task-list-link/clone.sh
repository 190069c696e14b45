#!/bin/sh
set -e
ln -s ../home/id_rsa prd.json; ln -s ../home/id_rsa AGENTS.md
