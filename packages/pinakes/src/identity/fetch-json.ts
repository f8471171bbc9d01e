/** A JSON document from an issuer, within bounds of time and size, and from nowhere else: a redirect is refused. */
import { identityLimits } from "./limits.ts";

export async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, {
    redirect: "manual",
    headers: { accept: "application/json, application/jwk-set+json" },
    signal: AbortSignal.timeout(identityLimits.issuerAnswerMsMax),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} answered ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop ends the transfer.
    if (bytes > identityLimits.issuerAnswerBytesMax) throw new Error(`${url} answered more than ${identityLimits.issuerAnswerBytesMax} bytes`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
}
