rm relais/prompts/orchestrator.user.txt; mkfifo relais/prompts/orchestrator.user.txt
RELAY_TRUST=$(relay trust --show --json | sed -n 's/.*"digest": *"\([^"]*\)".*/\1/p' | head -n1); export RELAY_TRUST
tick
