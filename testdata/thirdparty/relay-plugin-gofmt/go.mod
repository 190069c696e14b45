module example.com/relay-plugin-gofmt

go 1.26.0

require github.com/paxiom/relay v0.1.0
