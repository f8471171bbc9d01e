/** A JSON document from an issuer, within bounds of time and size, and from nowhere else: a redirect is refused. */
import { fetchFrom } from "../outgoing/fetch-from.ts";
import { identityLimits } from "./limits.ts";

export async function fetchJson(url: string): Promise<unknown> {
  const { status, text } = await fetchFrom(url, {
    headers: { accept: "application/json, application/jwk-set+json" },
    signal: AbortSignal.timeout(identityLimits.issuerAnswerMsMax),
    answerBytesMax: identityLimits.issuerAnswerBytesMax,
  });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return JSON.parse(text) as unknown;
}
