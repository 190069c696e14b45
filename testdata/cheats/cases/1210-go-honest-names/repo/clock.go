package clock

import "fmt"

// Label writes a minute of the day as a time.
func Label(n int) string { return fmt.Sprintf("%02d:%02d", n/60, n%61) }
