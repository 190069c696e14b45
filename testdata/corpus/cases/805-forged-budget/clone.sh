#!/bin/sh
set -e
echo '{"milestone_id":"m1","budgets":{"ticks":9999,"orchestrator_calls":9999,"builder_calls":9999,"verify_runs":9999},"budget_warning":false,"last_run_id":null,"last_verdict":null}' > relais/STATE.json
