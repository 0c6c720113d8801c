module github.com/capkit/capkit/test/browser

go 1.26.5

require (
	github.com/capkit/capkit/test v0.0.0-00010101000000-000000000000
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.22.1
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	golang.org/x/sync v0.24.0 // indirect
)

replace (
	github.com/capkit/capkit => ../..
	github.com/capkit/capkit/cmd => ../../cmd
	github.com/capkit/capkit/hack => ../../hack
	github.com/capkit/capkit/internal/cli => ../../internal/cli
	github.com/capkit/capkit/pkg/admission => ../../pkg/admission
	github.com/capkit/capkit/pkg/cli => ../../pkg/cli
	github.com/capkit/capkit/pkg/gardenerlib => ../../pkg/gardenerlib
	github.com/capkit/capkit/pkg/openstack/machines => ../../pkg/openstack/machines
	github.com/capkit/capkit/pkg/worker/kit => ../../pkg/worker/kit
	github.com/capkit/capkit/test => ..
)
