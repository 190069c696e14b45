package box

// Support is what a machine allows.
type Support struct {
	// Means is the strongest means that works; "" when none does.
	Means  string
	Trials []Trial
}

// Trial is how one means did.
type Trial struct {
	Means string
	OK    bool
	// Why and Fix say, when it is not OK, what stood in the way and what to do.
	Why, Fix string
	// Gaps are what it does not stop, one sentence each.
	Gaps []string
}
