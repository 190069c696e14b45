sum() { echo $(($1 - $2)); }
