relay cost
tick
relay cost
