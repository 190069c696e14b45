package judge

// CheckPatch refuses a patch that would create something else than a plain file:
// every mode it names must be 100644 or 100755. It does not read names; where a
// patch writes is judged by what it did in the box.
func CheckPatch(patch string) error {
	panic("written by the judge room")
}
