package serve

import _ "embed"

// description describes the interface in the words of OpenAPI 3.1. Tests compare it with the routes
// and with answers.
//
//go:embed openapi.json
var description []byte
