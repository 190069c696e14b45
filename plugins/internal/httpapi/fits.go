package httpapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/paxiom/relay/sdk"
)

const (
	// worthCounting is the size of a prompt, in bytes, below which no model of a vendor
	// finds it too long: counting costs a request.
	worthCounting = 256 << 10
	countTimeout  = 30 * time.Second
)

// Fits says, before anything is spent, that a prompt is too long for its model, and by
// how much. Count and list are the API's own answers; where it gives none, the prompt is
// sent and the API decides.
func Fits(ctx context.Context, r *sdk.CompleteRequest, model string,
	count func(context.Context, *sdk.CompleteRequest) (int64, error), list func(context.Context) ([]sdk.Model, error)) error {
	size := len(r.System) + len(r.OutputSchema)
	for _, c := range r.Contents {
		size += len(c.Text) + len(c.Data)
	}
	if size < worthCounting {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	models, err := list(ctx)
	if err != nil {
		return nil
	}
	limit := contextOf(models, model)
	if limit == 0 {
		return nil
	}
	asked := *r
	asked.Model = model
	tokens, err := count(ctx, &asked)
	if err != nil || tokens <= limit {
		return nil
	}
	return TooLong(model, tokens, limit)
}

// contextOf is the context of a model that was called by its name or by its name without
// the date.
func contextOf(models []sdk.Model, name string) int64 {
	for _, m := range models {
		if m.ID == name || strings.HasPrefix(m.ID, name+"-20") {
			return m.ContextTokens
		}
	}
	return 0
}

// Listed says that a list of an API's models lacks the one that is configured, "" being
// none.
func Listed(models []sdk.Model, name string) error {
	if name == "" || slices.ContainsFunc(models, func(m sdk.Model) bool { return m.ID == name }) {
		return nil
	}
	return sdk.Fail(sdk.ModelUnknown, "the API does not list the model "+name, sdk.Fix("correct the model's name in the configuration"))
}

// TooLong is a prompt that has more tokens than its model takes; nothing was spent.
func TooLong(model string, tokens, limit int64) *sdk.Failure {
	return sdk.Fail(sdk.TooLarge, fmt.Sprintf("the prompt is too long for %s by %d tokens", model, tokens-limit), sdk.EffectNone,
		sdk.Detail(fmt.Sprintf("it has %d tokens, and the model takes %d", tokens, limit)),
		sdk.Fix("take a model with a longer context, or shorten FACTS.md and the prompt overrides"))
}
