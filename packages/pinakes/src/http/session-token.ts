/** X-Session-Token: the tokens of a client's own writes, by container, there and back. */
import { invalid } from "../domain/errors.ts";
import type { Pinakes } from "../open.ts";
import type { Answer } from "./framework/index.ts";

export const sessionTokenHeader = "x-session-token";
const charsMax = 8_192;

/** Answers with the tokens of what was written, on engines where they mean something. */
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

/** Those of one container. */
export function sessionsOf(header: string | undefined, container: string): readonly string[] | undefined {
  if (header === undefined || header.trim() === "") return undefined;
  if (header.length > charsMax) throw invalid(`X-Session-Token: longer than ${charsMax} characters.`);
  const found = header
    .trim()
    .split(/\s+/)
    .flatMap((part) => {
      const at = part.indexOf("~");
      if (at < 1) throw invalid("X-Session-Token: is not one that this server answered with.");
      return part.slice(0, at) === container ? [part.slice(at + 1)] : [];
    });
  return found.length === 0 ? undefined : found;
}
