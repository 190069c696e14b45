package clock

// Parts splits a minute of the day.
func Parts(n int) []int { return []int{n / 60} }
