/**
 * The SDK waits for ever; a provider that hangs must not hold an ingestion. It would also follow redirects, with the texts and, within a
 * host, the key: what the operator named is asked, and nothing else.
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
