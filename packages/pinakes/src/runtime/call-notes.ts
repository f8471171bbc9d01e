/**
 * What code below notes about the call it runs in, for whoever records calls: that access decided about something, that the call acts for
 * another user, that it changes something although its route may also read. Outside of such a call notes are dropped.
 */
import { AsyncLocalStorage } from "node:async_hooks";

interface Who {
  readonly tenant: string;
  readonly userId: string;
  readonly role: string;
  readonly keyId?: string | undefined;
}

export interface CallNotes {
  /** `denied`: a record exists that the caller may not see or change; `absent`: none does. */
  access?: "denied" | "absent";
  /** The user that the call acts for. */
  actingFor?: string;
  /** Who it is, where no header says so: a sign-in, a link. */
  who?: Who;
  /** What it changes, where its route does not tell. */
  change?: string;
}

const running = new AsyncLocalStorage<CallNotes>();

export async function withCallNotes<T>(notes: CallNotes, run: () => Promise<T>): Promise<T> {
  return running.run(notes, run);
}

export function noteAccess(access: "denied" | "absent"): void {
  const notes = running.getStore();
  if (notes !== undefined && notes.access !== "denied") notes.access = access;
}

export function noteActingFor(userId: string): void {
  const notes = running.getStore();
  if (notes !== undefined) notes.actingFor = userId;
}

export function noteWho(who: Who): void {
  const notes = running.getStore();
  if (notes !== undefined) notes.who = who;
}

export function noteChange(what: string): void {
  const notes = running.getStore();
  if (notes !== undefined) notes.change = what;
}
