#!/bin/sh
mkdir -p 'Relais/prompts'; echo x > 'Relais/prompts/orchestrator.system.txt'
