#!/bin/sh
echo x >> src/data.bin
