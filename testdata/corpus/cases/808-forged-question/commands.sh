relay status
relay answer yes; rc=$?
relay status
[ $rc = 0 ] || (exit 2)
