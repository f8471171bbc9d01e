/**
 * Limits the nesting of Markdown blocks before its parser sees them: it takes time quadratic in the depth, so 10 KB of "- " would take
 * minutes. One pass over the lines; a marker that is too deep becomes a letter, and the rest of its line plain words. Nothing else changes,
 * and no position: only headings outside of all lists and quotes matter.
 */
const levelsMax = 12;
/** The smallest indentation of a nested item. */
const columnsMax = 4 * levelsMax;

const marker = /[>]|[-+*](?=[ \t\n]|$)|\d{1,9}[.)](?=[ \t\n]|$)/y;

export function flattenDeepBlocks(text: string): string {
  let out = "";
  let copied = 0;
  for (let at = 0; at < text.length;) {
    const deep = deepMarker(text, at);
    if (deep !== undefined) {
      out += `${text.slice(copied, deep)}x`;
      copied = deep + 1;
    }
    const newline = text.indexOf("\n", at);
    at = newline < 0 ? text.length : newline + 1;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** The position of the first marker that is too deep, on the line that begins here. */
function deepMarker(text: string, start: number): number | undefined {
  let columns = 0;
  let levels = 0;
  for (let at = start; at < text.length;) {
    const char = text[at];
    if (char === " " || char === "\t") {
      columns += char === "\t" ? 4 : 1;
      at += 1;
      continue;
    }
    marker.lastIndex = at;
    const length = marker.exec(text)?.[0].length;
    if (length === undefined) return undefined;
    levels += 1;
    columns += length;
    if (levels > levelsMax || columns > columnsMax) return at;
    at += length;
  }
  return undefined;
}
