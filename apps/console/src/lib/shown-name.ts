/**
 * Names are untrusted. A bidi override makes "invoice\u202Egnp.exe" look like "invoiceexe.png"; other characters are invisible. Such
 * characters are shown by their code point. Pure.
 */

/** Control characters, bidi marks and overrides, and line breaks. */
const controls = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u;
const cutAtControls = new RegExp(`(${controls.source})`, "u");

export interface NamePart {
  readonly text: string;
  /** The text is the code point of an invisible character. */
  readonly control: boolean;
}

export function nameParts(name: string): readonly NamePart[] {
  return name
    .split(cutAtControls)
    .filter((text) => text !== "")
    .map((text) => (controls.test(text) ? { text: codeOf(text), control: true } : { text, control: false }));
}

/** For plain text only: window title, tooltip, notification. */
export function shownName(name: string): string {
  return nameParts(name)
    .map(({ text, control }) => (control ? `[${text}]` : text))
    .join("");
}

/** The part of a name that a keyboard can type. */
export function typableName(name: string): string {
  return nameParts(name)
    .filter(({ control }) => !control)
    .map(({ text }) => text)
    .join("");
}

function codeOf(sign: string): string {
  return `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
