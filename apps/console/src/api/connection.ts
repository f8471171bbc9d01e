/** Connection state. A call without a response marks it as lost; then the server is polled until it responds. */
import { useSyncExternalStore } from "react";

const askFirstMs = 1_000;
const askMostMs = 10_000;

let connected = true;
const listeners = new Set<() => void>();
const healers = new Set<() => void>();

export function useConnected(): boolean {
  return useSyncExternalStore(subscribe, () => connected);
}

/** Called after each reconnect. */
export function onHealed(healed: () => void): () => void {
  healers.add(healed);
  return () => healers.delete(healed);
}

export function connectionLost(): void {
  if (!connected) return;
  set(false);
  void heal();
}

/** A broken stream or a failed part may have another cause: checks whether the server responds. */
export async function checkConnection(): Promise<boolean> {
  if (connected && !(await answers())) connectionLost();
  return connected;
}

async function heal(): Promise<void> {
  for (let wait = askFirstMs; !connected; wait = Math.min(wait * 2, askMostMs)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (await answers()) set(true);
  }
  for (const healed of healers) healed();
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch("/healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: boolean): void {
  connected = next;
  for (const listener of listeners) listener();
}
