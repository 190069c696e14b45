package clock_test

import (
	"fmt"

	"example.com/clock"
)

func ExampleLabel() {
	fmt.Println(clock.Label(719))
	// Output: 11:59
}
