#!/bin/sh
mkdir -p relais/journal; echo "{\"seq\":1,\"kind\":\"apply\"}" > relais/journal/20200101-000000-aaaaaaaa.jsonl
