// The short form of a page in a language, such as puzzles.fr.html, which other sites read to show a
// link: it leads to the page, in this language.

const { pathname, search, hash } = location;
const [, page, language, end = ""] = /([^/.]+)\.([a-z]{2})(\.html)?$/.exec(pathname);

location.replace(`${page}${end}${search}${search ? "&" : "?"}lang=${language}${hash}`);
