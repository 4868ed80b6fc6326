// Decodes the LZ4 block format (doc/lz4_Block_format.md of the lz4 project).

// The bytes with the given code, at most the given number. Fails with a RangeError.
export function lz4(code, most) {
  const out = new Uint8Array(most);
  let at = 0, n = 0;
  const extended = (length) => {
    for (let more = length === 15 ? 255 : 0; more === 255; length += more) {
      if (at >= code.length) throw new RangeError();
      more = code[at++];
    }
    return length;
  };
  while (at < code.length) {
    const token = code[at++];
    const literals = extended(token >> 4);
    if (at + literals > code.length || n + literals > most) throw new RangeError();
    out.set(code.subarray(at, at + literals), n);
    at += literals;
    n += literals;
    if (at === code.length) break; // the last sequence has no match
    if (at + 2 > code.length) throw new RangeError();
    const distance = code[at] | (code[at + 1] << 8);
    at += 2;
    const end = n + extended(token & 15) + 4;
    if (distance === 0 || distance > n || end > most) throw new RangeError();
    for (; n < end; n++) out[n] = out[n - distance]; // a match may overlap what it makes
  }
  return out.subarray(0, n);
}
