import { useEffect } from "react";
import { shownName } from "../lib/shown-name.ts";
import { shellStrings } from "../strings/shell.ts";

/** A tab of the browser shows less; a name may have ten thousand signs. */
const nameCharsMax = 80;
/** More than so many letters hold: a letter may have several code units, and what is not shown need not be taken apart. */
const readCharsMax = 2_000;
const shown = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Several tabs are told apart, and the history can be read. */
export function useWindowTitle(name: string): void {
  useEffect(() => {
    document.title = windowTitle(name);
  }, [name]);
}

export function windowTitle(name: string): string {
  const signs = [...shown.segment(shownName(name).slice(0, readCharsMax))].map(({ segment }) => segment);
  const cut = signs.length > nameCharsMax ? `${signs.slice(0, nameCharsMax - 1).join("")}…` : signs.join("");
  return cut === "" ? shellStrings.product : `${cut} · ${shellStrings.product}`;
}
