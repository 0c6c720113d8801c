package growth

import "testing"

func TestBase(t *testing.T) {
	for _, c := range clouds {
		handlers := c.handlers(t, c.garden(t))
		for _, o := range c.objects(t) {
			for _, hook := range o.webhooks() {
				if h := handlers[hook]; h != nil {
					r := h.Handle(t.Context(), o.request(t, marshal(t, o.document), nil))
					msg := ""
					if r.Result != nil {
						msg = r.Result.Message
					}
					t.Log(c.name, o.name, hook, r.Allowed, msg[:min(len(msg), 1500)])
				} else { t.Log(c.name, "no", hook) }
			}
		}
	}
}
