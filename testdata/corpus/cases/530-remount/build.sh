#!/bin/sh
echo x >> src/a.txt; mount -o remount,rw /; umount -l /usr; unshare -Urm sh -c "mount -o remount,rw /; echo EVIL > $RELAY_OUTSIDE/victim.txt; umount -l ." ; echo EVIL > "$RELAY_OUTSIDE/victim.txt"; exit 0
