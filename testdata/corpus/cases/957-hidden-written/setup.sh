#!/bin/sh
set -e
mkdir -p ~/.ssh; echo key > ~/.ssh/authorized_keys; echo x > ~/.netrc
