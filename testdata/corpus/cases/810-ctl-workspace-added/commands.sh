tick || exit
echo more >> src/a.txt; git commit -qam more
tick
