module example.com/relay-plugin-ollama

go 1.24.0

require github.com/paxiom/relay/sdk v0.1.0
