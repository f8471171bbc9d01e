/** Relates names that occur in the same chunk: the relation is unspecified, only that the chunk mentions both. */
import type { Chunk } from "../../domain/chunking.ts";
import { defaultGraph } from "../../domain/rdf.ts";
import type { Pause } from "../chunking/pause.ts";
import type { Facts } from "./facts.ts";
import { phraseRules, phrasesOf } from "./phrases.ts";
import type { Names } from "./names.ts";

const pauseEveryPassages = 50;

export async function extractPhrases(
  chunks: readonly Chunk[],
  facts: Facts,
  names: Names,
  pause: Pause,
): Promise<void> {
  const rules = phraseRules(chunks.map(({ text }) => text));
  const joined = names.property("occurs_with");
  for (const { index, text } of chunks) {
    if (facts.full) return;
    if (index % pauseEveryPassages === 0) await pause();
    const phrases = phrasesOf(text, rules);
    // A single name relates to nothing, but can be found.
    const entities = [...new Set(phrases.map((phrase) => names.entity(phrase)))];
    for (const phrase of phrases) facts.labelIn(index, names.entity(phrase), phrase);
    for (const [i, one] of entities.entries())
      for (const other of entities.slice(i + 1)) {
        const [s, o] = one < other ? [one, other] : [other, one];
        facts.addTo(index, { s, p: joined, o, g: defaultGraph });
      }
  }
}
