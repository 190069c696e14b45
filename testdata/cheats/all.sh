#!/bin/sh
# all.sh BIN [CASES...]: the corpus in every mode against the relay in BIN. Ends with 1 when something must land and
# does not, or the reverse. An attack that only a hidden check can stop (needs: holdout alone) counts in mode holdout only.
# MODES names some of the modes; ONLY is a glob as in run.sh; SAMPLE=N takes one in N of each class; RUNNERS is the folder
# that setup.sh has filled.
here=$(cd "$(dirname "$0")" && pwd)
bin=$1
shift
rc=0
"$here/run.sh" --self-test --bin "$bin" || rc=1
for mode in ${MODES:-open default fenced holdout}; do
  "$here/run.sh" --bin "$bin" --mode "$mode" --only "${ONLY:-*}" ${SAMPLE:+--sample "$SAMPLE"} --jobs "${JOBS:-2}" "$@" || rc=1
done
exit $rc
