#!/bin/sh
# Nobody asked for a change here.
echo "deploying"
