package judge

// Judge decides. It is pure: the same touched set and policy give the same verdict.
func Judge(t Touched, p Policy) Verdict {
	panic("written by the judge room")
}
