rm -f relais/FACTS.md; mkfifo relais/FACTS.md relais/STATE.json.x; mkdir -p relais/cycles config/services; mkfifo config/services/x.yaml
relay status; relay audit service list; relay history list; rm -r config
tick
