/**
 * Finds names in a text by rules. In English a name is a run of capitalised words ("Grace Hopper", "Bank of England"); a single word counts
 * if it is capitalised inside a sentence. In German every noun is capitalised, so a single one counts only if the document repeats it. In
 * both, repeated pairs of words name a subject ("vector index").
 */
import { labelKey } from "./labels.ts";
import { extractionLimits } from "./limits.ts";
import { isGerman, isStopword } from "./stopwords.ts";

const token = /[\p{L}\p{N}][\p{L}\p{N}\p{M}’'&.-]*[\p{L}\p{N}\p{M}]|[\p{L}\p{N}]|[.!?:;,()"„“”\n]/gu;
const connectors: ReadonlySet<string> = new Set([
  "of",
  "the",
  "de",
  "la",
  "du",
  "van",
  "von",
  "der",
  "den",
  "zu",
  "und",
  "and",
  "for",
  "für",
]);
/** Allowed inside a name, but not always joining one: "Grace Hopper and Ada Lovelace" are two names. */
const separating: ReadonlySet<string> = new Set(["and", "und", "for", "für"]);
const pairRepeatsMin = 3;
const germanRepeatsMin = 2;

interface Word {
  readonly text: string;
  readonly folded: string;
  readonly capital: boolean;
  /** The first word of a sentence. */
  readonly begins: boolean;
  /** Preceded by punctuation. */
  readonly apart: boolean;
}

/** Statistics of the whole document, computed once before its chunks. */
export interface PhraseRules {
  readonly german: boolean;
  readonly repeated: ReadonlyMap<string, number>;
  readonly capitalInside: ReadonlySet<string>;
  readonly pairs: ReadonlySet<string>;
}

export function phraseRules(texts: Iterable<string>): PhraseRules {
  const repeated = new Map<string, number>();
  const capitalInside = new Set<string>();
  const pairs = new Map<string, number>();
  const small: string[] = [];
  for (const text of texts) {
    let before: Word | undefined;
    for (const word of wordsOf(text)) {
      if (word.capital) repeated.set(word.folded, (repeated.get(word.folded) ?? 0) + 1);
      if (word.capital && !word.begins) capitalInside.add(word.folded);
      if (small.length < 5_000 && isStopword(word.folded)) small.push(word.folded);
      const pair =
        before === undefined || word.apart || !isContent(before) || !isContent(word)
          ? undefined
          : `${before.folded} ${word.folded}`;
      if (pair !== undefined) pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
      before = word;
    }
  }
  const frequent = [...pairs].filter(([, count]) => count >= pairRepeatsMin).map(([pair]) => pair);
  return { german: isGerman(small), repeated, capitalInside, pairs: new Set(frequent) };
}

/** The names in a chunk as first written, deduplicated; the longest and most repeated if there are too many. */
export function phrasesOf(text: string, rules: PhraseRules): readonly string[] {
  const found = new Map<string, { readonly phrase: string; readonly weight: number }>();
  const add = (words: readonly Word[]): void => {
    const phrase = words.map((word) => word.text).join(" ");
    const key = labelKey(phrase);
    if (key === "" || found.has(key)) return;
    const weight =
      words.length * 2 + Math.min(4, Math.max(...words.map(({ folded }) => rules.repeated.get(folded) ?? 0)));
    found.set(key, { phrase, weight });
  };
  const words = [...wordsOf(text)];
  for (let i = 0; i < words.length; i += 1) {
    const run = capitalRun(words, i);
    if (run.length > 0 && isName(run, rules)) add(run);
    // Its last word may start a repeated pair of words.
    i = Math.max(i, words.indexOf(run.at(-1) as Word, i));
    const [word, next] = [words[i] as Word, words[i + 1]];
    if (
      run.length === 0 &&
      next !== undefined &&
      !next.capital &&
      !next.apart &&
      rules.pairs.has(`${word.folded} ${next.folded}`)
    )
      add([word, next]);
  }
  const entries = [...found.values()];
  if (entries.length <= extractionLimits.phrasesPerPassageMax) return entries.map(({ phrase }) => phrase);
  const kept = new Set(entries.toSorted((a, b) => b.weight - a.weight).slice(0, extractionLimits.phrasesPerPassageMax));
  return entries.filter((entry) => kept.has(entry)).map(({ phrase }) => phrase);
}

/** A run of capitalised words, with connectors between them. */
function capitalRun(words: readonly Word[], from: number): readonly Word[] {
  const run: Word[] = [];
  for (let i = from; i < words.length && run.length < extractionLimits.phraseWordsMax; i += 1) {
    const word = words[i] as Word;
    if (i > from && word.apart) break;
    if (!word.capital) {
      const [next, following] = [words[i + 1], words[i + 2]];
      if (i === from || next === undefined || !connectors.has(word.folded) || separating.has(word.folded) || next.apart)
        break;
      if (!next.capital && !(connectors.has(next.folded) && following?.capital === true)) break;
    } else if (isStopword(word.folded)) {
      // "The", "Die" at the start of a sentence are not part of a name.
      if (run.length > 0) break;
      return word.begins && words[i + 1]?.capital === true && words[i + 1]?.apart === false
        ? capitalRun(words, i + 1)
        : [];
    }
    run.push(word);
  }
  while (run.length > 0 && !(run.at(-1) as Word).capital) run.pop();
  return run;
}

function isName(run: readonly Word[], { german, repeated, capitalInside }: PhraseRules): boolean {
  const [first] = run as [Word, ...Word[]];
  if (run.length > 1) return true;
  if (first.folded.length < 2 || /^\d/.test(first.folded)) return false;
  if (german) return (repeated.get(first.folded) ?? 0) >= germanRepeatsMin || /\p{Lu}.*\p{Lu}/u.test(first.text);
  return !first.begins || capitalInside.has(first.folded);
}

function isContent({ folded }: Word): boolean {
  return folded.length > 2 && !isStopword(folded) && /^\p{L}/u.test(folded);
}

function* wordsOf(text: string): Generator<Word> {
  let begins = true;
  let apart = true;
  for (const [found] of text.matchAll(token)) {
    if (/^[.!?:\n"„“”]$/.test(found)) {
      begins = true;
      apart = true;
    } else if (/^[;,()]$/.test(found)) apart = true;
    else {
      const word = found.replace(/[’']s$/, "");
      yield { text: word, folded: labelKey(word), capital: /^\p{Lu}/u.test(word), begins, apart };
      begins = false;
      // "Dr." stays with its name; a word ending in a full stop ends its sentence if the next one is capitalised, which the rules tolerate.
      apart = false;
    }
  }
}
