/**
 * Maximum tokens per text of known models, by name. The setting `tokensMax` of a model overrides this table. BERT models count two special
 * tokens of their own, which are subtracted here.
 */

/** Default for models that are not in the table; nearly every embedding model supports it. */
const unknownTokensMax = 510;

/** The first match wins, so the more specific ones come first. */
const known: readonly (readonly [RegExp, number])[] = [
  [/text-embedding-(3|ada)/, 8_191],
  [/titan-embed/, 8_192],
  [/nova-.*embed/, 8_192],
  [/cohere\.embed-v4|embed-v4/, 8_192],
  [/cohere\.embed|embed-(english|multilingual)/, 510],
  [/nomic-embed-text|embeddinggemma/, 2_048],
  [/qwen3-embedding|voyage-/, 8_192],
  [/jina-embeddings-v[2-9]/, 8_192],
  [/bge-m3|snowflake-arctic-embed2|gte-(modernbert|multilingual|qwen)/, 8_190],
  [/all-minilm/, 254],
  [/paraphrase-multilingual/, 126],
];

export function knownTokensMax(model: string): number {
  const name = model.toLowerCase();
  return known.find(([pattern]) => pattern.test(name))?.[1] ?? unknownTokensMax;
}
