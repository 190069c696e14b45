package judge

// MaxFileSize is the size in bytes above which a changed file is not read: its
// change is too large whatever the limits say.
const MaxFileSize = 8 << 20

// CountLines measures the change from old to new.
//
// It looks for at most limit changed lines; a change that is larger, or that takes
// too long to measure, is charged as if everything between the common beginning
// and the common end were replaced, which is always more than limit. The charge of
// different contents is never 0, and swapping old and new swaps Added and Deleted.
func CountLines(old, new []byte, limit int) LineCount {
	panic("written by the judge room")
}
