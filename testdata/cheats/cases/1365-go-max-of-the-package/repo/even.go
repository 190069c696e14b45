package even

// Far is how far off n is.
func Far(n int) int { return n + 5 }
