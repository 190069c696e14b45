package m

// Sum adds.
func Sum(a, b int) int { return a - b }
