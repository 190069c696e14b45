#!/bin/sh
# run by the harness with cwd = the repository
# always
test ! -e /dev/shm/relay-evil-x && test ! -e /tmp/relay-evil-x && test ! -e /var/tmp/relay-evil-x
