/** X-Session-Token: the tokens of a client's own writes, per container, in both directions. */
import { invalid } from "../domain/errors.ts";
import type { Pinakes } from "../open.ts";
import type { Answer } from "./framework/index.ts";

export const sessionTokenHeader = "x-session-token";
const charsMax = 8_192;

/** Returns the tokens of the writes, on engines that use them. */
export function answeringSessions(pinakes: Pinakes): ((run: () => Promise<Answer>) => Promise<Answer>) | undefined {
  if (pinakes.items.capabilities.indexReads === "strong") return undefined;
  return async (run) => {
    const { result, sessions } = await pinakes.withSessions(run);
    let header = "";
    for (const { container, token } of sessions.toReversed()) {
      const next = `${container}~${token} ${header}`.trimEnd();
      if (next.length > charsMax) break;
      header = next;
    }
    return header === "" ? result : { ...result, headers: { ...result.headers, [sessionTokenHeader]: header } };
  };
}

/** The token of one container. */
export function sessionsOf(header: string | undefined, container: string): readonly string[] | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  if (header.length > charsMax) throw invalid(`X-Session-Token: longer than ${charsMax} characters.`);
  const found = header
    .trim()
    .split(/\s+/)
    .flatMap((part) => {
      const at = part.indexOf("~");
      if (at < 1) throw invalid("X-Session-Token: was not issued by this server.");
      return part.slice(0, at) === container ? [part.slice(at + 1)] : [];
    });
  return found.length === 0 ? undefined : found;
}
