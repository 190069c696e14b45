#!/bin/sh
set -e
git config include.path ../.gitconfig
