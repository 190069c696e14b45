#!/bin/sh
echo x >> tools/cfgcheck
