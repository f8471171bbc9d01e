/** Text inside XML. */
const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#13;",
};

/** For text and for attributes in double quotes, which hold no line ends or tabs here. A reader would make "\n" of "\r". */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"\r]/g, (character) => escapes[character] as string);
}
