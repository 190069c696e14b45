module example.com/relay-plugin-ollama

go 1.26.0

require github.com/paxiom/relay v0.1.0
