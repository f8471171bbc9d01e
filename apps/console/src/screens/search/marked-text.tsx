/** A text in which the words of the question stand out. */
import { partsOf } from "./found-words.ts";

export function MarkedText({ text, words }: { readonly text: string; readonly words: readonly string[] }) {
  // The parts have no other name than their place, and never change theirs.
  return partsOf(text, words).map((part, index) => (part.found ? <mark key={index}>{part.text}</mark> : part.text));
}
