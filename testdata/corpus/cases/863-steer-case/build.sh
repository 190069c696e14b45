#!/bin/sh
echo x > 'PRD.Json'
