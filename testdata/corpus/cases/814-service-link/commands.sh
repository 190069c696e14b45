relay service list
relay service show a
relay start a
relay status
