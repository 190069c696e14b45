#!/bin/sh
# verify.sh BASE HEAD: says of each commit between the two what relay attests, and fails when
# one is not as it was landed. action.yml runs it, and anybody's own pipeline can.
#   SIGNERS     the file of signers, as BASE has it: the change under review can't add to it
#   RELAY_ONLY  false: commits that nobody calls relay's fail as well
set -eu
base=$1 head=$2
trusted=$(mktemp)
trap 'rm -f "$trusted"' EXIT
git cat-file -e "$head^{commit}" && git cat-file -e "$base^{commit}" || {
  echo "The commits $base and $head are not both here: check out with the whole history (fetch-depth: 0)." >&2
  exit 3
}
git show "$base:$SIGNERS" >"$trusted" || {
  echo "There is no $SIGNERS at $base: commit the signers that you trust there first." >&2
  exit 3
}
git fetch --quiet origin +refs/notes/relay:refs/notes/relay || echo "There are no notes of relay's at origin." >&2
only=--relay-only
[ "${RELAY_ONLY:-true}" != false ] || only=
code=0
said=$(relay verify $only --signers "$trusted" "$base..$head" 2>&1) || code=$?
printf '%s\n' "$said"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  { echo "### relay verify"; printf '%s\n' "$said" | sed 's/^/    /'; } >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
