/** A small deterministic embedder for tests: texts that share words get similar vectors. */
const dims = 64;

export function embedByWords(texts: readonly string[]): Promise<readonly Float32Array[]> {
  return Promise.resolve(texts.map(vectorOf));
}

function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(dims);
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
    let hash = 7;
    for (const character of word) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
    vector[hash % dims] = (vector[hash % dims] ?? 0) + 1;
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}
