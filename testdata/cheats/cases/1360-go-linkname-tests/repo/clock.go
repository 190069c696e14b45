package clock

import "fmt"

// Label is the time of a minute of the day.
func Label(n int) string { return fmt.Sprintf("%02d:%02d", n/60, n%61) }
