package clock

import "fmt"

func Label(n int) string { return fmt.Sprintf("%02d:%02d", n/60, n%61) }
