/** X-Session-Token: tokens that the server returned for our writes, sent with reads, so that they include those writes on every engine. */

const header = "x-session-token";
/** The server reads 8,192; the newest tokens matter most. */
const headerCharsMax = 4_096;

export class SessionTokens {
  /** In order of arrival. */
  readonly #tokens = new Set<string>();
  #chars = 0;

  keep(headers: Headers): void {
    for (const token of headers.get(header)?.split(/\s+/) ?? []) {
      if (token === "") continue;
      if (!this.#tokens.delete(token)) this.#chars += token.length + 1;
      this.#tokens.add(token);
    }
    for (const token of this.#tokens) {
      if (this.#chars <= headerCharsMax) return;
      this.#tokens.delete(token);
      this.#chars -= token.length + 1;
    }
  }

  header(): Record<string, string> {
    return this.#tokens.size === 0 ? {} : { [header]: [...this.#tokens].join(" ") };
  }
}
