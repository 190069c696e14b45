relay status
relay recover
relay recover --force
tick
