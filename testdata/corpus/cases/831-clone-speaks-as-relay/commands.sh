unset RELAY_TRUST
tick
