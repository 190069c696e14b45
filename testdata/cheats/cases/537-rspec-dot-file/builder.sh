#!/bin/sh
set -e
printf -- '--example plain\n' >.rspec
