package judge

import (
	"io/fs"
	"testing"
)

func TestPermissionsThatLand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind      ChangeKind
		old, now  fs.FileMode
		want      fs.FileMode
		unchanged bool
	}{
		{Added, 0, 0o666, 0o644, false}, {Added, 0, 0o777, 0o755, false}, {Added, 0, 0o600, 0o644, false}, {Added, 0, 0o700, 0o755, false}, {Added, 0, 0o644, 0o644, false},
		{Modified, 0o644, 0o666, 0o644, false}, {Modified, 0o664, 0o600, 0o664, false}, {Modified, 0o600, 0o644, 0o600, false}, {Modified, 0o644, 0o777, 0o755, false}, {Modified, 0o755, 0o666, 0o644, false},
		{ModeOnly, 0o644, 0o666, 0o644, true}, {ModeOnly, 0o755, 0o777, 0o755, true}, {ModeOnly, 0o644, 0o777, 0o755, false}, {ModeOnly, 0o755, 0o600, 0o644, false},
		{Modified, fs.ModeSymlink | 0o777, 0o666, 0o644, false},
	} {
		c := with("src/a", func(c *Change) { c.Kind, c.OldMode, c.NewMode = tt.kind, tt.old, tt.now })
		v := Judge(Touched{Changes: []Change{c}}, law(func(p *Policy) { p.newFiles = true }))
		if v.Code != Success || (len(v.Kept) == 0) != tt.unchanged {
			t.Errorf("%v from %o to %o: %s, %d kept", tt.kind, tt.old, tt.now, v.Code, len(v.Kept))
		} else if !tt.unchanged && v.Kept[0].NewMode != tt.want {
			t.Errorf("%v from %o to %o lands as %o, want %o", tt.kind, tt.old, tt.now, v.Kept[0].NewMode, tt.want)
		}
	}
}
