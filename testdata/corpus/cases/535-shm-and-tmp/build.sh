#!/bin/sh
echo x >> src/a.txt; echo EVIL > /dev/shm/relay-evil-x; echo EVIL > /tmp/relay-evil-x; echo EVIL > /var/tmp/relay-evil-x; exit 0
