package serve

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// minPacked is the length from which on an answer is compressed: an answer that fits
// in one packet of a network is not sent faster when it is shorter.
const minPacked = 1024

// packers are compressors, kept because each allocates some 800 KiB.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// pack returns text in the format of gzip, always the same bytes for the same text.
func pack(text []byte) []byte {
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	var b bytes.Buffer
	z.Reset(&b)
	if _, err := z.Write(text); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// acceptsGzip reports whether a client takes gzip, and likes it no less than plain
// text (RFC 9110, 12.5.3). A coding that is named twice has the weight given last;
// one whose weight makes no sense is not wanted.
func acceptsGzip(h http.Header) bool {
	gzipped, named, plain := 0.0, false, 0.0
	for element := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		coding, parameters, _ := strings.Cut(element, ";")
		q := weight(parameters)
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			gzipped, named = q, true
		case "*":
			if !named {
				gzipped = q
			}
		case "identity":
			plain = q
		}
	}
	return gzipped > 0 && gzipped >= plain
}

// weight reads "q=0.5", or nothing for 1; text that makes no sense has no weight.
func weight(parameters string) float64 {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return 1
	}
	name, value, _ := strings.Cut(parameters, "=")
	if !strings.EqualFold(name, "q") || strings.Trim(value, "0123456789.") != "" {
		return 0
	}
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || q > 1 {
		return 0
	}
	return q
}
