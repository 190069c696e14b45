#!/bin/sh
grep -q orchestrator.provider "$SAID" && grep -q models.orchestrator_model "$SAID" # always
