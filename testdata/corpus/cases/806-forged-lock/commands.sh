relay status
tick
