/**
 * The SDK has no timeout; a hanging provider must not block an ingestion. It would also follow redirects, with the texts and, within a
 * host, the key: requests go only to what the operator configured.
 */
export function fetchWithin(answerMsMax: number): typeof globalThis.fetch {
  return (input, init) => {
    const late = AbortSignal.timeout(answerMsMax);
    const { signal } = init ?? {};
    return fetch(input, {
      ...init,
      redirect: "manual",
      signal: signal === undefined || signal === null ? late : AbortSignal.any([signal, late]),
    });
  };
}
