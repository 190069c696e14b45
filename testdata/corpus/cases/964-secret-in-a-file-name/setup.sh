#!/bin/sh
set -e
printf "machine example.org login me password hunter22-of-mine\n" > ~/.netrc
