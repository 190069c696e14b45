package change

import "testing"

// Where the file system knows plain renames only, everything still lands.
func TestLandByPlainRenames(t *testing.T) {
	plainRenames = true
	defer func() { plainRenames = false }()
	TestLandEveryKind(t)
	t.Run("back", TestOperatorEditsWhileReverting)
}
