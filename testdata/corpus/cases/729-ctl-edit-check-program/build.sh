#!/bin/sh
echo 'in scope' >> src/a.txt; echo '# more' >> tools/cfgcheck
