package box

const trialName = "relay: box trial"

func runTrial(string) {}
