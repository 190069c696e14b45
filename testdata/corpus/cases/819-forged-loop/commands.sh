relay status
relay loop --resume; rc=$?
[ $rc = 0 ] || (exit 2)
