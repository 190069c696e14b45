#!/bin/sh
: > relais/usage.jsonl
