package clitool

import (
	"fmt"
	"unicode/utf8"

	"github.com/paxiom/relay/sdk"
)

// Input is how much a program takes on standard input. Beyond it programs refuse, or
// leave out the rest and go on as if it was not there: so it is never tried.
type Input struct {
	Bytes, Characters int // 0: no limit
}

// Fits says that a prompt is too long for the program, and by how much.
func (in Input) Fits(program, prompt string) error {
	over, what := 0, ""
	switch {
	case in.Bytes > 0 && len(prompt) > in.Bytes:
		over, what = len(prompt)-in.Bytes, "bytes"
	case in.Characters > 0 && len(prompt) > in.Characters && utf8.RuneCountInString(prompt) > in.Characters:
		over, what = utf8.RuneCountInString(prompt)-in.Characters, "characters"
	default:
		return nil
	}
	return sdk.Fail(sdk.TooLarge, fmt.Sprintf("the prompt is too long for %s by %d %s", program, over, what), sdk.EffectNone,
		sdk.Detail(fmt.Sprintf("the program takes %d on standard input", max(in.Bytes, in.Characters))),
		sdk.Fix("shorten FACTS.md, the instructions or the prompt overrides; a provider's API takes longer prompts than its program: `\"transport\": \"api\"`"))
}
