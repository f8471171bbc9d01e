/** API calls of the page, newest first, for the calls drawer. */
import { useSyncExternalStore } from "react";

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  /** As sent, if JSON or text. */
  readonly body: string | undefined;
  readonly contentType: string | undefined;
  /** Fields of a multipart form. */
  readonly form?: readonly string[] | undefined;
  /** Undefined while pending, 0 without a response. */
  readonly status: number | undefined;
  readonly ms: number | undefined;
  readonly at: number;
}

/** A page may stay open for days: only the newest are kept. */
const keptMax = 100;

let calls: readonly Call[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function beginCall(
  call: Pick<Call, "method" | "path" | "body" | "contentType" | "form">,
): (status: number) => void {
  lastId += 1;
  const id = lastId;
  const at = Date.now();
  const began = performance.now();
  set([{ ...call, id, at, status: undefined, ms: undefined }, ...calls].slice(0, keptMax));
  return (status) => set(calls.map((one) => (one.id === id ? { ...one, status, ms: performance.now() - began } : one)));
}

/** The next user of the same browser must not see them. */
export function forgetCalls(): void {
  set([]);
}

export function useCalls(): readonly Call[] {
  return useSyncExternalStore(subscribe, () => calls);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: readonly Call[]): void {
  calls = next;
  for (const listener of listeners) listener();
}

/** The equivalent curl command. */
export function curlOf({ method, path, body, contentType, form = [] }: Call, origin: string): string {
  const parts = ["curl", ...(method === "GET" ? [] : ["-X", method]), "-H", '"Authorization: Bearer $KEY"'];
  if (contentType !== undefined) parts.push("-H", quoted(`content-type: ${contentType}`));
  if (body !== undefined) parts.push("--data-binary", quoted(body));
  for (const field of form) parts.push("-F", quoted(field));
  return [...parts, quoted(`${origin}${path}`)].join(" ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
