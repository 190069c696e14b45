package more_test

import "testing"

func TestMore(t *testing.T) { t.Run("inner", func(t *testing.T) { t.Log("x") }) }
