/** The whole chunk, scrolled to the words of the question. */
import { useEffect, useRef } from "react";
import { bestPlaceOf } from "./excerpt.ts";
import { partsOf, wordsOf } from "./found-words.ts";

/** Characters that are visible without scrolling. */
const seenChars = 400;

export function HitText({
  text,
  question,
  label,
}: {
  readonly text: string;
  readonly question: string;
  readonly label: string;
}) {
  const box = useRef<HTMLParagraphElement>(null);
  const best = useRef<HTMLElement>(null);
  const words = wordsOf(question);
  const place = bestPlaceOf(text, words, seenChars);
  useEffect(() => {
    if (box.current === null || best.current === null) return;
    const down = best.current.getBoundingClientRect().top - box.current.getBoundingClientRect().top;
    // Does not scroll if it is already visible.
    if (down > box.current.clientHeight * (3 / 4)) box.current.scrollTop += down - box.current.clientHeight / 4;
  }, [text, place]);
  let at = 0;
  return (
    <p
      ref={box}
      className="max-h-60 overflow-auto text-sm break-words whitespace-pre-wrap"
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      {partsOf(text, words).map((part) => {
        const from = at;
        at += part.text.length;
        return part.found ? (
          <mark key={from} {...(from === place ? { ref: best } : {})}>
            {part.text}
          </mark>
        ) : (
          <span key={from}>{part.text}</span>
        );
      })}
    </p>
  );
}
