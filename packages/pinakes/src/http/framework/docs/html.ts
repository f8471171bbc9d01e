/** HTML whose values are escaped unless they are HTML already, so that escaping cannot be forgotten. */

export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[];

/** @example html`<p title="${name}">${list.map((item) => html`<b>${item}</b>`)}</p>` */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0] as string;
  values.forEach((value, i) => {
    text += render(value) + (strings[i + 1] as string);
  });
  return new Html(text);
}

export const nothing = new Html("");

function render(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escapeHtml(String(value));
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
