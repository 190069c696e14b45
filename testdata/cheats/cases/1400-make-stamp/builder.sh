#!/bin/sh
set -e
sleep 1
: >.tested
