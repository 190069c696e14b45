relay queue --all
relay status
relay audit continue 11111111-2222-4333-8444-555555555555
relay audit resume 11111111-2222-4333-8444-555555555555
relay audit accept 11111111-2222-4333-8444-555555555555; rc=$?
[ $rc = 0 ] || (exit 2)
