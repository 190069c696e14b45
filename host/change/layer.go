package change

import "os"

// removeLayer removes what a box left of its layer. Modes that a builder set may be
// in the way of plain removal; box.Discard has dealt with those.
func removeLayer(layer string) error { return os.RemoveAll(layer) }
