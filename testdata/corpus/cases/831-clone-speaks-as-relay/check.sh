#!/bin/sh
grep -q product_name "$SAID"
