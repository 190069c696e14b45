mkdir -p relais/journal .relay/journal; for f in relais/FACTS.md relais/journal/run-1.jsonl .relay/journal/run-1.jsonl relais/usage.jsonl relais/STATE.json relais/history/run-0/report.json; do truncate -s 2G $f; done
relay status; relay recover; relay cost; relay history list; rm -r .relay
tick
