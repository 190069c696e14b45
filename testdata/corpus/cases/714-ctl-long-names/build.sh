#!/bin/sh
n=$(printf "%0255d" 7); m=$(printf "%0255d" 8); echo new >> src/$n; echo new > src/$m; mkdir -p src/$m.d 2>/dev/null; u=$(printf "\303\251%.0s" $(seq 127)); mkdir "src/$u"; echo new > "src/$u/$m"
