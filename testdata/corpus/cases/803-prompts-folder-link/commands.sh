tick
