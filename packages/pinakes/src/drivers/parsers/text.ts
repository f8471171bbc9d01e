/** Plain text and logs: the text as it is. */
import type { ParsedText } from "../../ports/parser.ts";

export function parseText(text: string): ParsedText {
  return { text, pages: [], sections: [], rows: [], warnings: [] };
}
