package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/paxiom/relay/host/internal/config"
	"github.com/paxiom/relay/host/internal/keys"
	"github.com/paxiom/relay/host/internal/report"
)

// service takes messages over the web. Its address is a secret: with it, anyone can post there.
type service struct {
	name string
	ref  func(config.Notify) any
	// fill gives the body of a request and its type; it may change the address and the header.
	fill func(*url.URL, http.Header, Message) (body []byte, kind string, err error)
}

var services = []service{
	{"ntfy", func(c config.Notify) any { return c.Ntfy }, func(_ *url.URL, h http.Header, m Message) ([]byte, string, error) {
		h.Set("Title", mime.QEncoding.Encode("utf-8", report.Safe(m.Title)))
		return []byte(report.Safe(m.Text)), "text/plain; charset=utf-8", nil
	}},
	{"slack", func(c config.Notify) any { return c.Slack }, func(_ *url.URL, _ http.Header, m Message) ([]byte, string, error) {
		plain := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;") // no links and no mentions
		b, err := json.Marshal(map[string]string{"text": "*" + plain.Replace(report.Safe(m.Title)) + "*\n" + plain.Replace(report.Safe(m.Text))})
		return b, "application/json", err
	}},
	{"telegram", func(c config.Notify) any { return c.Telegram }, func(u *url.URL, _ http.Header, m Message) ([]byte, string, error) {
		form := u.Query()
		if form.Get("chat_id") == "" {
			return nil, "", errors.New("the address has no chat_id: https://api.telegram.org/botTOKEN/sendMessage?chat_id=ID")
		}
		form.Set("text", report.Safe(m.Title)+"\n"+report.Safe(m.Text))
		u.RawQuery = ""
		return []byte(form.Encode()), "application/x-www-form-urlencoded", nil
	}},
	{"webhook", func(c config.Notify) any { return c.Webhook }, func(_ *url.URL, _ http.Header, m Message) ([]byte, string, error) {
		b, err := json.Marshal(m.Data)
		return report.Printed(b), "application/json", err
	}},
}

// post sends a message to the service. An error never holds the address.
func (s service) post(ctx context.Context, at any, root string, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	fail := func(err error) error { return fmt.Errorf("notify.%s: %w", s.name, err) }
	ref, err := keys.Parse(at)
	if err != nil {
		return fail(err)
	}
	address, err := ref.Resolve(ctx, root)
	if err != nil {
		return fail(err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fail(errors.New(ref.String() + " holds no address of http or https"))
	}
	header := http.Header{}
	body, kind, err := s.fill(u, header, m)
	if err != nil {
		return fail(err)
	}
	header.Set("Content-Type", kind)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return fail(errors.New("no request can be made for " + ref.String()))
	}
	req.Header = header
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	var asked *url.Error
	switch {
	case errors.As(err, &asked):
		return fail(asked.Err) // without the address
	case err != nil:
		return fail(err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return fail(errors.New("the server answers " + res.Status))
	}
	return nil
}
