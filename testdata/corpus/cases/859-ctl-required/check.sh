#!/bin/sh
grep -q more src/a.txt && grep -q cfg-check relais/REPORT.json
