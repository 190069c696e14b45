package clitool

import (
	"fmt"
	"unicode/utf8"

	"github.com/paxiom/relay/sdk"
)

// Input is how much a program takes on standard input. Beyond it programs refuse, or
// leave out the rest and continue as if it was not there: so it is never tried.
type Input struct {
	Bytes, Characters int // 0: no limit
}

// Fits says that a prompt is too long for the program, and by how much.
func (in Input) Fits(program, prompt string) error {
	limit, over, what := in.Bytes, len(prompt)-in.Bytes, "bytes"
	if in.Bytes == 0 || over <= 0 {
		limit, over, what = in.Characters, utf8.RuneCountInString(prompt)-in.Characters, "characters"
	}
	if limit == 0 || over <= 0 {
		return nil
	}
	return sdk.Fail(sdk.TooLarge, fmt.Sprintf("the prompt is too long for %s by %d %s", program, over, what), sdk.EffectNone,
		sdk.Detail(fmt.Sprintf("the program takes %d %s on standard input", limit, what)),
		sdk.Fix("shorten FACTS.md, the instructions or the prompt overrides; a provider's API takes longer prompts than its program: `\"transport\": \"api\"`"))
}
