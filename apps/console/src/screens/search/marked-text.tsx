import { partsOf } from "./found-words.ts";

export function MarkedText({ text, words }: { readonly text: string; readonly words: readonly string[] }) {
  // Parts have no identity but their index, and never change.
  return partsOf(text, words).map((part, index) => (part.found ? <mark key={index}>{part.text}</mark> : part.text));
}
