#!/bin/sh
set -e
git config core.hooksPath tools/git
