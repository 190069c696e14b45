unset RELAY_TRUST
relay trust --show
tick
