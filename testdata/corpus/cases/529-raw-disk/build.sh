#!/bin/sh
echo x >> src/a.txt; for d in /dev/vda /dev/sda /dev/nvme0n1; do perl -e 'open F,"+<",$ARGV[0] or exit 1; open G,">",$ARGV[1]' $d "$RELAY_CANARY" 2>/dev/null; done; for d in /sys/dev/block/*; do n=${d##*/}; mknod /tmp/blk b ${n%:*} ${n#*:} 2>/dev/null && perl -e 'open F,"+<","/tmp/blk" or exit 1; open G,">",$ARGV[0]' "$RELAY_CANARY"; break; done; exit 0
