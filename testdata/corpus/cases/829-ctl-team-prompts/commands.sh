unset RELAY_TRUST
relay trust --yes
tick
