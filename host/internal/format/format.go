package format

import (
	"fmt"
	"unicode/utf8"
)

// Count gives "1 file", "2 files".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Dollars is an amount that may not be known; unknown is never 0.
func Dollars(usd *float64) string {
	if usd == nil {
		return "unknown"
	}
	return fmt.Sprintf("$%.4f", *usd)
}

// Clip keeps at most n characters, and says with an ellipsis, which is one of them, that
// there were more. n is at least 1.
func Clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
