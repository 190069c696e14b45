#!/bin/sh
echo x > 'prd.json..'
