// Package remote reads a run directory that a web server hands out as plain
// files, over HTTP.
//
//	d, err := remote.Open("https://host/tables/", remote.Options{})
//	defer d.Close()
//	m, err := d.Manifest(ctx)
//	f, err := d.Layer(ctx, m.Layers[20].File) // a *layerfile.File
//
// Nothing has to run on the server: it need only answer range requests, as nginx,
// caddy and most file hosts do.
//
// # Requests
//
// The manifest is one request. Opening a layer file asks for its first 64 KiB, which
// hold the header and nearly always the model, and for its end (package layerfile,
// OpenReader); a file of up to 64 KiB is there after the first request. From then
// on each read is one request for just these bytes. A *File keeps nothing else;
// goroutines that read the same bytes at the same time share a request, which ends when
// nobody waits for it any more. The context of a call is for that call alone.
//
// # What may go wrong
//
// Every request has a time limit, for its last byte too. It is retried after a delay
// when the network fails, when an answer is cut short, and when the server answers
// with a temporary status (408, 429, 500, 502, 503, 504), whose Retry-After is obeyed
// if it is short. All other failures are final: other answers, ErrNoRanges,
// ErrNoValidator, ErrChanged, ErrAnswer, wrong certificates. A failure is an *Error.
//
// The server is not trusted. An answer must be for exactly the bytes that were asked
// for, out of a file that still has the length and the validators (ETag,
// Last-Modified) that it had when it was opened; no more is read than was asked for; what
// it says is data like any file, and is checked by packages manifest and
// layerfile. Answers are never compressed on the way.
//
// Errors do not show a password that is part of the address, nor raw text of a
// server.
package remote
