/** Plain text and logs: the text is unchanged. */
import type { ParsedText } from "../../ports/parser.ts";

export function parseText(text: string): ParsedText {
  return { text, pages: [], sections: [], rows: [], warnings: [] };
}
