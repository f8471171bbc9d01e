/**
 * Names come from anybody. A sign that turns the direction of writing makes "invoice\u202Egnp.exe" look like "invoiceexe.png"; others cannot be
 * seen at all. Such signs are shown by their number instead of being obeyed. Pure.
 */

/** Controls, the marks and overrides of direction, and what breaks lines. */
const controls = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;
const cutAtControls = new RegExp(`(${controls.source})`, "u");

export interface NamePart {
  readonly text: string;
  /** The text is the number of a sign that cannot be seen. */
  readonly control: boolean;
}

export function nameParts(name: string): readonly NamePart[] {
  return name
    .split(cutAtControls)
    .filter((text) => text !== "")
    .map((text) => (controls.test(text) ? { text: codeOf(text), control: true } : { text, control: false }));
}

/** For places that take nothing but text: the title of the window, a hint, news in the corner. */
export function shownName(name: string): string {
  return nameParts(name)
    .map(({ text, control }) => (control ? `[${text}]` : text))
    .join("");
}

/** What can be typed of a name on a keyboard. */
export function typableName(name: string): string {
  return nameParts(name)
    .filter(({ control }) => !control)
    .map(({ text }) => text)
    .join("");
}

function codeOf(sign: string): string {
  return `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
