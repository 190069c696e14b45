package strictjson

// MaxBytes is the largest document that is read where the caller sets no limit.
const MaxBytes = 2 << 20

// MaxDepth is how deep arrays and objects may be nested.
const MaxDepth = 32

// Error says where a document is refused and why, in words fit for a model or a
// person.
type Error struct {
	Line, Column int    // 1-based; 0 when it is about the whole document
	Path         string // such as "scope.allowed_globs[2]"; "" at the top
	Reason       string
}

// Error gives place and reason on one line.
func (e *Error) Error() string { return e.Reason }

// Decode reads one value of at most max bytes: map[string]any, []any, string,
// json.Number, bool or nil. Every error is an *Error.
func Decode(b []byte, max int) (any, error) {
	panic("written by the judge room")
}

// Unmarshal decodes b (at most MaxBytes) into v, which is a pointer as for
// encoding/json. A key that is not exactly the name of a field is an error.
func Unmarshal(b []byte, v any) error {
	panic("written by the judge room")
}
