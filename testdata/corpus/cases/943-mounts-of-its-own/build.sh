#!/bin/sh
# homes: the one of the box, and where it really lies
echo work >> src/a.txt
leak() { echo "LEAKED $1" >> src/a.txt; }
homes="$HOME"; [ -e "$RELAY_REAL/.home" ] || homes="$HOME $(dirname "$RELAY_REAL")/home"
for h in $homes; do
for ns in "unshare -Urm" "unshare -m" "unshare -Urpfm" "env"; do mkdir -p "$TMPDIR/m" "$TMPDIR/up" "$TMPDIR/wk"
  H=$h $ns sh -c 'r() { grep -qs CANARY "$1/.aws/credentials" "$1/.netrc" "$1/.ssh/id" && echo LEAKED; }
    mount --bind "$H" "$TMPDIR/m" && r "$TMPDIR/m"; mount --rbind "$H" "$TMPDIR/m" && umount -l "$TMPDIR/m/.netrc" "$TMPDIR/m/.aws" && r "$TMPDIR/m"
    umount -l "$H/.netrc"; umount -l "$H/.aws"; umount "$H/.ssh"; r "$H"; umount -l "$H"; r "$H"
    mount -t overlay o -o "lowerdir=$H,upperdir=$TMPDIR/up,workdir=$TMPDIR/wk" "$TMPDIR/m" && r "$TMPDIR/m"
    mount -t overlay o -o "lowerdir=$H:$TMPDIR/up" "$TMPDIR/m" && r "$TMPDIR/m"; mount --move "$H/.aws" "$TMPDIR/up" && r "$H"; :' 2>/dev/null | grep -q LEAKED && leak "$ns"
done; done; :
