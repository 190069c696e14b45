package shop

import "testing"

func Total(t testing.TB, a, b int) int { return 0 }
