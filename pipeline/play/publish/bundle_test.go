package publish

import (
	"strings"
	"testing"

	"grenier/internal/testkit/must"
	"grenier/internal/testkit/should"
)

// TestBundle puts modules together: each once, after those that it imports.
func TestBundle(t *testing.T) {
	files := map[string][]byte{
		"a.js":   []byte("// About a.\n\nimport * as b from \"./b.js\";\nimport { one, two as zwei,\n  three } from \"./c-d.js\";\nimport \"./e.js\";\n\nexport const a = b.f(one, zwei, three);\n"),
		"b.js":   []byte("import { one } from \"./c-d.js\";\nexport async function f() { return one; } // the one\nexport class G {}\nexport function* h() {}\n"),
		"c-d.js": []byte("export const one = 1;\nexport const two = 2;\n  // three\nexport const three = 3;\n"),
		"e.js":   []byte("import \"./e2.js\";\nconst own = 5;\n"),
		"e2.js":  []byte("import(\"./late.js\");\n"),
	}
	want := `const once = (make) => {
let made;
return () => (made ??= make());
};
const $c_d = once(() => {
const one = 1;
const two = 2;
const three = 3;
return { one, two, three };
});
const $b = once(() => {
const { one } = $c_d();
async function f() { return one; } // the one
class G {}
function* h() {}
return { f, G, h };
});
const $e2 = once(() => {
import("./late.js");
return {  };
});
const $e = once(() => {
$e2();
const own = 5;
return {  };
});
const $a = once(() => {
const b = $b();
const { one, two: zwei,
  three } = $c_d();
$e();


const a = b.f(one, zwei, three);
return { a };
});
({ "a.js": $a, "e.js": $e, })[document.querySelector("script[data-begin]").dataset.begin]();
`
	got := must.Get(bundle(files, "a.js", "e.js"))(t)
	should.Hold(t, string(got) == want, "got\n%s\nwant\n%s", got, want)
}

// TestLibrary: a module with all that it imports has its comment and its exports.
func TestLibrary(t *testing.T) {
	got, err := library(map[string][]byte{
		"a.js": []byte("// About a.\n// More.\n\n// Not this.\nimport { one } from \"./b.js\";\nexport const two = 2 * one;\nexport class A {}\n"),
		"b.js": []byte("// About b.\nexport const one = 1;\n"),
	}, "a.js")
	want := "// About a.\n// More.\n\n" + once + "const $b = once(() => {\nconst one = 1;\nreturn { one };\n});\n" +
		"const $a = once(() => {\nconst { one } = $b();\n\nconst two = 2 * one;\nclass A {}\nreturn { two, A };\n});\nexport const { two, A } = $a();\n"
	should.Hold(t, err == nil && string(got) == want, "%v: got\n%s\nwant\n%s", err, got, want)
}

// TestBundleRefused: what a bundle cannot have is refused, not left out.
func TestBundleRefused(t *testing.T) {
	for want, text := range map[string]string{
		"there is no x.js":       "import \"./x.js\";\n",
		"a circle of imports":    "import \"./a.js\";\n",
		"does not export z":      "import { y, z } from \"./y.js\";\n",
		"import y from":          "import y from \"./y.js\";\n",
		"export default":         "export default 5;\n",
		"export let":             "export let n = 5;\n",
		"export { n }":           "const n = 1;\nexport { n };\n",
		"await":                  "await 5;\n",
		"import { y } from './y": "import { y } from './y.js';\n",
	} {
		_, err := bundle(map[string][]byte{"a.js": []byte(text), "y.js": []byte("export const y = 1;\n")}, "a.js")
		should.Not(t, err == nil || !strings.Contains(err.Error(), want), "%q: %v, want %q", text, err, want)
	}
}
