/** Escaping of XML text. */
const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#13;",
};

/** For text and double-quoted attributes; line ends and tabs do not occur in attributes here. A parser would normalise "\r" to "\n". */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\r]/g, (character) => escapes[character] as string);
}
