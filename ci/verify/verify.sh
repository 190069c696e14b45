#!/bin/sh
# verify.sh BASE HEAD: says of each commit between the two what relay attests, and fails when
# one is not as it was landed. action.yml runs it, and anybody's own pipeline can.
#   SIGNERS     the file of signers, as BASE has it: the change under review can't add to it
#   RELAY_ONLY  false: commits that nobody calls relay's fail as well
#   RELAY_TREE  relay's sources, of which it is built where there is none
# What follows is the component's, too (templates/verify.yml), which can't bring a file.
set -eu
no() { printf '%s\n' "$1" >&2; exit 3; }
[ $# = 2 ] || no "verify.sh takes two commits: BASE and HEAD."
base=$1 head=$2 signers=${SIGNERS:-.github/relay-signers} tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export GIT_TERMINAL_PROMPT=0 GIT_NO_REPLACE_OBJECTS=1
git cat-file -e "$head^{commit}" && git cat-file -e "$base^{commit}" && [ "$(git rev-parse --is-shallow-repository)" = false ] ||
  no "The commits from $base to $head are not all here: check out with the whole history (GitHub: fetch-depth: 0, GitLab: GIT_DEPTH: \"0\", elsewhere: git fetch --unshallow)."
if git merge-base --is-ancestor "$head" "$base"; then # a second run, after the merge
  echo "$head is in $base already: there is nothing left to verify."
  exit 0
fi
git cat-file blob "$base:$signers" >"$tmp/signers" ||
  no "There is no $signers at $base: commit the signers that you trust there first."
# Where no job runs, notes that were not pushed yet stay.
git fetch --quiet origin "${CI:++}refs/notes/relay:refs/notes/relay" || {
  asked=0
  git ls-remote --exit-code origin refs/notes/relay >"$tmp/notes" || asked=$?
  [ "$asked" = 2 ] || no "The notes could not be fetched from origin: its answer is above. In a private repository the checkout has to keep its credentials."
  echo "There are no notes of relay's at origin: git push origin refs/notes/relay, from where relay works." >&2
}
command -v relay >"$tmp/found" || {
  command -v go >"$tmp/found" || no "Neither relay nor Go is here: install one of them in a step before."
  if [ -n "${RELAY_TREE:-}" ]; then
    (cd "$RELAY_TREE" && go build -o "$tmp/relay" ./cmd/relay)
  else
    GOBIN=$tmp go install github.com/paxiom/relay/cmd/relay@latest
  fi || no "relay could not be built: what Go says is above."
  PATH=$tmp:$PATH
}
only=--relay-only
[ "${RELAY_ONLY:-true}" != false ] || only=
code=0
said=$(relay verify $only --signers "$tmp/signers" "$base..$head" 2>&1) || code=$?
printf '%s\n' "$said"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  { echo "### relay verify"; printf '%s\n' "$said" | sed 's/^/    /'; } >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
