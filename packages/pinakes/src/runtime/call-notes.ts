/**
 * What lower layers note about the current call for the audit log: an access decision, that the call acts for another user, or that it
 * writes although its route may also be read-only. Outside of such a call, notes are dropped.
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
  /** The caller, if no header identifies it: a sign-in, a link. */
  who?: Who;
  /** What it changes, if its route does not determine that. */
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
