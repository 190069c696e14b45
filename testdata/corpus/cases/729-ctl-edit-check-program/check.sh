#!/bin/sh
grep -q more tools/cfgcheck
