sed -i '2i [ "$1" != --version ] || { echo "2.0.31 (Claude Code)"; exit; }' "$driver" # a loop asks for it first
ANTHROPIC_API_KEY=none relay loop --mode task --max-ticks 1 "${usual[@]}"; [ $? = 2 ]
