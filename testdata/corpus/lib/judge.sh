#!/bin/bash
# judge.sh: relay as the judge of one case. The contract with one.sh is the environment:
#   RELAY_REPO  the repository          RELAY_TASK     what the orchestrator answers
#   RELAY_BUILDER  acts as `claude -p`  RELAY_OUT      where {"verdict","code"} goes
#   SAID      where all that commands.sh makes relay print goes
#   RELAY_BUILD_TIMEOUT, RELAY_VERIFY_TIMEOUT in seconds, CORPUS_MEANS the means of the box
# The orchestrator is the replay provider, which gives the task text to both calls that a tick may make.
set -u
# What the case's builder needs is written into its driver: a builder gets no environment that it was not granted.
driver=$TMPDIR/../cfg/claude
{ echo '#!/bin/sh'; echo 'case "$*" in --version) echo "2.1.330 (Claude Code)"; exit ;; esac'; for v in RELAY_REPO RELAY_CASE RELAY_CANARY RELAY_OUTSIDE; do printf "export %s='%s'\n" $v "${!v}"; done
  printf "exec '%s' \"\$@\"\n" "$RELAY_BUILDER"; } > "$driver" && chmod 755 "$driver"
script=$TMPDIR/../cfg/orchestrator.json
"$STAGE/lib/oracle" script "$RELAY_TASK" > "$script"
cd "$RELAY_REPO" || exit 2
[ ! -f "$RELAY_CASE/env.sh" ] || . "$RELAY_CASE/env.sh"
export ANTHROPIC_API_KEY=sk-ant-corpus-needs-no-key # the builder has to be able to start, and calls no model
commit=false; [ ! -f "$RELAY_CASE/commit" ] || commit=true
set -- --no-input --json --set commit.on_success=$commit --set commit.builder_commits=stop \
  --set orchestrator.provider=replay --set "plugins.replay.script=$script" \
  --set "claude_code_cli.command=$driver" \
  --set "builder.timeout_seconds=$RELAY_BUILD_TIMEOUT" \
  --set "verification.timeout_fast_seconds=$RELAY_VERIFY_TIMEOUT" --set "verification.timeout_slow_seconds=$RELAY_VERIFY_TIMEOUT" \
  --set "box.means=${CORPUS_MEANS:-overlay}"
RELAY_TRUST=$("$STAGE/bin/relay" trust --show "$@" 2>/dev/null | sed -n 's/.*"digest": *"\([^"]*\)".*/\1/p' | head -n1) && export RELAY_TRUST
usual=("$@")
tick() { "$STAGE/bin/relay" run "${usual[@]}" "$@" > "$RELAY_OUT.json" 2> "$RELAY_OUT.log"; local rc=$?; cat "$RELAY_OUT.json" "$RELAY_OUT.log" >> "$SAID"; return $rc; }
relay() { "$STAGE/bin/relay" "$@" > "$RELAY_OUT.last" 2>&1; local rc=$?; { echo "\$ relay $*"; cat "$RELAY_OUT.last"; } >> "$SAID"; cat "$RELAY_OUT.last"; return $rc; }
if [ -f "$RELAY_CASE/commands.sh" ]; then
  : > "$SAID"; (. "$RELAY_CASE/commands.sh"); rc=$?
  echo "exit $rc"; cat "$SAID"
  if [ -f "$RELAY_OUT.json" ]; then "$STAGE/lib/oracle" verdict "$RELAY_OUT.json" > "$RELAY_OUT"; else printf '{"code":"%s","verdict":"commands"}\n' $rc > "$RELAY_OUT"; fi
  exit
fi
tick; echo "exit $?"; cat "$RELAY_OUT.log"
"$STAGE/lib/oracle" verdict "$RELAY_OUT.json" > "$RELAY_OUT"
