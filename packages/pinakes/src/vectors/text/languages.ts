/** The languages with a stemmer, and their stop words. */
import snowball from "snowball-stemmers";
import * as stopword from "stopword";

/**
 * The list for English has "do" but not "does". In a small collection such a word is rare, and a question that starts with "What does …"
 * would match any other text with "does". No word that could be a topic (may, will, no, not).
 */
const pronounsToo = [
  "myself",
  "ours",
  "ourselves",
  "yours",
  "yourself",
  "yourselves",
  "she",
  "hers",
  "herself",
  "its",
  "itself",
  "theirs",
  "themselves",
];
const wordsToo = ["whom", "when", "why", "having", "does", "doing", "nor", "so", "just"];

/** By name of the Snowball algorithm. There is no list for Tamil. */
const stopListOf: Readonly<Record<string, readonly string[]>> = {
  arabic: stopword.ara,
  armenian: stopword.hye,
  basque: stopword.eus,
  catalan: stopword.cat,
  czech: stopword.ces,
  danish: stopword.dan,
  dutch: stopword.nld,
  english: [...stopword.eng, ...pronounsToo, ...wordsToo],
  finnish: stopword.fin,
  french: stopword.fra,
  german: stopword.deu,
  hungarian: stopword.hun,
  irish: stopword.gle,
  italian: stopword.ita,
  norwegian: stopword.nob,
  portuguese: stopword.por,
  romanian: stopword.ron,
  russian: stopword.rus,
  slovene: stopword.slv,
  spanish: stopword.spa,
  swedish: stopword.swe,
  tamil: [],
  turkish: stopword.tur,
};

/** "none" neither stems nor drops a word. */
export const languages: readonly string[] = Object.freeze(["none", ...Object.keys(stopListOf)]);

export function stemmerOf(language: string): (word: string) => string {
  if (language === "none") return (word) => word;
  const stemmer = snowball.newStemmer(language);
  return (word) => stemmer.stem(word);
}

/** Entries of several words (a few lists have some) could never equal a token and are left out. */
export function stopWordsOf(language: string): ReadonlySet<string> {
  const list = stopListOf[language] ?? [];
  return new Set(
    list
      .map((word) => word.normalize("NFKC").toLowerCase().trim())
      .filter((word) => /^[\p{L}\p{N}\p{M}]+$/u.test(word)),
  );
}
