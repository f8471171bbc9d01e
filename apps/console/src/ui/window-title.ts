import { useEffect } from "react";
import { shownName } from "../lib/shown-name.ts";
import { shellStrings } from "../strings/shell.ts";

/** Browser tabs show less; a name may have ten thousand characters. */
const nameCharsMax = 80;
/** Cut before segmenting: a grapheme may have several code units. */
const readCharsMax = 2_000;
const shown = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A distinct title for each tab and history entry. */
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
