package answer

import "github.com/paxiom/relay/schemas"

// ReadCheck reads the answer of a model that was asked for a hidden check.
func ReadCheck(text []byte) (check, class string, err error) {
	c, err := read[struct {
		Check string `json:"check"`
		Class string `json:"class"`
	}](schemas.Examiner, text)
	if err != nil {
		return "", "", err
	}
	return c.Check, c.Class, nil
}
