package shop

import (
	"reflect"
	"testing"
)

func TestTotal(t *testing.T) {
	if got := Total(1, 2); !reflect.DeepEqual(got, []int{3}) {
		t.Errorf("got %v", got)
	}
}
