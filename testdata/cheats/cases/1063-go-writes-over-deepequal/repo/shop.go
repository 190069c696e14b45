package shop

func Total(a, b int) []int { return nil }
