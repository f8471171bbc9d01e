/** The SDK waits for ever; a provider that hangs must not hold an ingestion. */
export function fetchWithin(answerMsMax: number): typeof globalThis.fetch {
  return (input, init) => {
    const late = AbortSignal.timeout(answerMsMax);
    const { signal } = init ?? {};
    return fetch(input, { ...init, signal: signal === undefined || signal === null ? late : AbortSignal.any([signal, late]) });
  };
}
