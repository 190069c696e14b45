package notify

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/paxiom/relay/host/internal/config"
)

func TestServices(t *testing.T) {
	var got string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = r.Method + " " + r.URL.String() + " " + r.Header.Get("Content-Type") + " [" + r.Header.Get("Title") + "] " + string(b)
		w.WriteHeader(status)
	}))
	defer server.Close()
	t.Setenv("TOPIC", server.URL+"/bot12:secret/sendMessage?chat_id=7")
	m := Message{Title: "task a waits", Text: "<!channel> which\x1b[2J & table?", Data: map[string]string{"event": "question"}}
	const at = "env:TOPIC"
	for want, c := range map[string]config.Notify{
		"POST /bot12:secret/sendMessage?chat_id=7 text/plain; charset=utf-8 [task a waits] <!channel> which": {Ntfy: at},
		`POST /bot12:secret/sendMessage?chat_id=7 application/json [] {"text":"*task a waits*\n\u0026lt;!ch`: {Slack: at},
		"POST /bot12:secret/sendMessage application/x-www-form-urlencoded [] chat_id=7&text=task+a+waits%0A": {Telegram: at},
		`POST /bot12:secret/sendMessage?chat_id=7 application/json [] {"event":"question"}`:                  {Webhook: at},
	} {
		if err := Send(t.Context(), c, "", nil, m); err != nil || !strings.HasPrefix(got, want) || strings.Contains(got, "\x1b") {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
	status = http.StatusForbidden
	if err := Send(t.Context(), config.Notify{Slack: at}, "", nil, m); err == nil || err.Error() != "notify.slack: the server answers 403 Forbidden" {
		t.Error(err)
	}
	server.Close()
	if err := Send(t.Context(), config.Notify{Telegram: at}, "", nil, m); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	t.Setenv("TOPIC", "no address secret")
	if err := Send(t.Context(), config.Notify{Webhook: at}, "", nil, m); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
