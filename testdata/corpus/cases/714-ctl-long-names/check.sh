#!/bin/sh
n=$(printf "%0255d" 7); m=$(printf "%0255d" 8); u=$(printf "\303\251%.0s" $(seq 127)); grep -q new src/$n && grep -q new src/$m && grep -q new "src/$u/$m"
