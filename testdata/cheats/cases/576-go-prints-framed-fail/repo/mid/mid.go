package mid

import (
	"sort"
)

// Mid is the median of xs; 0 for none.
func Mid(xs []int) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := append([]int(nil), xs...)
	sort.Ints(s)
	return float64(s[len(s)/2])
}
