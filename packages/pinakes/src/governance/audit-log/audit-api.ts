/** The interface for auditors: entries with the people behind them, checkpoints, proofs, exports. Each call checks its permission. */
import type {
  AuditCheckpoint,
  AuditConsistency,
  AuditEntry,
  AuditExport,
  AuditInclusion,
  AuditQuery,
  AuditSubject,
  Page,
} from "@pinakes/client";
import type { Caller } from "../../domain/caller.ts";
import { PinakesError, invalid } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Authenticated } from "../../identity/index.ts";
import { instanceTenant, type AuditLog } from "./audit-log.ts";
import { readLeaf, type LeafEntry } from "./entry.ts";
import { entryLine, exportFormat, headerLines, type ExportHeader } from "./export-format.ts";
import { auditLimits } from "./limits.ts";
import { consistencyProof, inclusionProof } from "./merkle.ts";
import { LogReader } from "./read-log.ts";
import type { KnownSubject, SubjectKind } from "./subjects.ts";
import { readHead } from "./workspace-log.ts";

export interface AuditScope {
  /** `instance`: entries without a workspace, such as failed sign-ins; for the operator. */
  readonly log?: "workspace" | "instance" | undefined;
}

const width = auditLimits.bundleLeaves;

export class AuditApi {
  readonly #log: AuditLog;

  constructor(log: AuditLog) {
    this.#log = log;
  }

  /** Newest first. A page may be short and still have a cursor. */
  async list(auth: Authenticated, { log, ...query }: AuditQuery & AuditScope = {}): Promise<Page<AuditEntry>> {
    const scope = this.#scope(auth, log);
    const limit = limitOf(query.limit);
    const { size } = await readHead(this.#log.items, scope);
    const matches = await this.#matcher(scope, query);
    const reader = new LogReader(this.#log.items, scope);
    const people = new People(this.#log, scope);
    const items: AuditEntry[] = [];
    let before = Math.min(beforeOf(query.cursor), size);
    for (let bundles = 0; before > 0 && items.length < limit && bundles < auditLimits.pageBundlesMax; bundles += 1) {
      const bundle = Math.floor((before - 1) / width);
      const leaves = await reader.bundle(bundle);
      while (before > bundle * width && items.length < limit) {
        before -= 1;
        const entry = readLeaf(leaves[before - bundle * width] as string);
        if (isBefore(entry, query.from)) return { items, next_cursor: null };
        if (matches(entry)) items.push(await people.shown(before, entry));
      }
    }
    return { items, next_cursor: before > 0 ? String(before) : null };
  }

  async checkpoint(auth: Authenticated, { log }: AuditScope = {}): Promise<AuditCheckpoint> {
    const { root, ...checkpoint } = await this.#log.checkpoints.sign(this.#scope(auth, log));
    return { ...checkpoint, root: root.toString("base64") };
  }

  async inclusion(
    auth: Authenticated,
    { index, size: wanted, log }: { readonly index: number; readonly size?: number | undefined } & AuditScope,
  ): Promise<AuditInclusion> {
    const { reader, size } = await this.#tree(auth, wanted, log);
    if (!Number.isInteger(index) || index < 0 || index >= size)
      throw new PinakesError("NOT_FOUND", `index: there is no entry ${index} in a tree of ${size}.`);
    const leaves = await reader.bundle(Math.floor(index / width));
    const hashes = await inclusionProof(index, size, reader.subtree);
    return { index, size, leaf: leaves[index % width] as string, hashes: hashes.map((one) => one.toString("base64")) };
  }

  async consistency(
    auth: Authenticated,
    { from, size: wanted, log }: { readonly from: number; readonly size?: number | undefined } & AuditScope,
  ): Promise<AuditConsistency> {
    const { reader, size } = await this.#tree(auth, wanted, log);
    if (!Number.isInteger(from) || from < 0 || from > size)
      throw invalid(`from: must be a whole number from 0 to ${size}, the size of the tree; got ${from}.`);
    const hashes = await consistencyProof(from, size, reader.subtree);
    return { from, size, hashes: hashes.map((one) => one.toString("base64")) };
  }

  /** The lines of an export, each with its line end. */
  async *export(
    auth: Authenticated,
    { format = "ndjson", first = 0, end: wanted, log }: AuditExport & AuditScope = {},
  ): AsyncGenerator<string, void> {
    const scope = this.#scope(auth, log);
    const { size, note, keys } = await this.#log.checkpoints.sign(scope);
    const end = wanted ?? size;
    if (!Number.isInteger(first) || !Number.isInteger(end) || first < 0 || end < first || end > size)
      throw invalid(`first, end: must name entries of the log, from 0 to before ${size}; got ${first} and ${end}.`);
    if (end - first > auditLimits.exportEntriesMax)
      throw new PinakesError(
        "LIMIT_EXCEEDED",
        `An export has at most ${auditLimits.exportEntriesMax} entries; request parts with first and end.`,
      );
    const reader = new LogReader(this.#log.items, scope);
    const base64 = async (from: number, to: number): Promise<string[]> =>
      (await reader.hashesOf(from, to)).map((one) => one.toString("base64"));
    const [left, right] = await Promise.all([base64(0, first), base64(end, size)]);
    const header: ExportHeader = { format: exportFormat, keys: [...keys], checkpoint: note, first, end, left, right };
    yield linesOf(headerLines(header, format));
    let lines: string[] = [];
    for await (const [index, leaf] of reader.leaves(first, end)) {
      lines.push(entryLine(index, leaf, format));
      if (lines.length < width) continue;
      yield linesOf(lines);
      lines = [];
    }
    if (lines.length > 0) yield linesOf(lines);
  }

  async #tree(
    auth: Authenticated,
    wanted: number | undefined,
    log: AuditScope["log"],
  ): Promise<{ readonly reader: LogReader; readonly size: number }> {
    const scope = this.#scope(auth, log);
    const head = await readHead(this.#log.items, scope);
    const size = wanted ?? head.size;
    if (!Number.isInteger(size) || size < 0 || size > head.size)
      throw invalid(`size: must be a whole number from 0 to ${head.size}, the size of the tree; got ${size}.`);
    return { reader: new LogReader(this.#log.items, scope), size };
  }

  #scope({ caller, via }: Authenticated, log: AuditScope["log"]): Scope {
    requireAuditor(caller);
    if (log !== "instance") return this.#log.scopeOf(caller.scope.tenant);
    if (via !== "root")
      throw new PinakesError("FORBIDDEN", "The log of the instance is the operator's; use the root token.");
    return this.#log.scopeOf(instanceTenant);
  }

  async #matcher(scope: Scope, query: AuditQuery): Promise<(entry: LeafEntry) => boolean> {
    const { subjects } = this.#log;
    const { actor, action, verb, outcome, resource, to } = query;
    const token = async (kind: SubjectKind, id: string): Promise<string | undefined> =>
      (await subjects.find(scope, { kind, id }))?.token;
    // Nobody without entries has a token; no entry has an empty one.
    const user = actor === undefined ? undefined : ((await token("user", actor)) ?? actor);
    const named = resource === undefined ? undefined : new Set([resource, ...(await this.#writtenAs(scope, resource))]);
    return (entry) =>
      (user === undefined || entry.actor === user || entry.for === user) &&
      (action === undefined || entry.action === action) &&
      (verb === undefined || entry.verb === verb) &&
      (outcome === undefined || entry.outcome === outcome) &&
      (to === undefined || Date.parse(entry.at) < timeOf(to, "to")) &&
      (query.from === undefined || Date.parse(entry.at) >= timeOf(query.from, "from")) &&
      (named === undefined || named.has(entry.resource) || Object.values(entry.ids).some((id) => named.has(id)));
  }

  /** How an id may be written in entries. */
  async #writtenAs(scope: Scope, id: string): Promise<readonly string[]> {
    const { subjects } = this.#log;
    const kinds = ["user", "agent", "session", "thread", "repository", "collection"] as const;
    const known = await Promise.all(kinds.map((kind) => subjects.find(scope, { kind, id })));
    const workspace = await subjects.of(scope, { kind: "workspace", id: scope.tenant });
    return [`#${workspace.hashOf(id)}`, ...known.flatMap((one) => (one === undefined ? [] : [`~${one.token}`]))];
  }
}

/** Admins, and callers with the permission. */
export function requireAuditor({ role, permissions }: Pick<Caller, "role" | "permissions">): void {
  if (role === "admin" || permissions.includes("audit")) return;
  throw new PinakesError(
    "FORBIDDEN",
    'Reading the audit log needs the role "admin" or the permission "audit"; ask an admin of your workspace.',
  );
}

/** Resolves tokens to users, once per page. */
class People {
  readonly #log: AuditLog;
  readonly #scope: Scope;
  readonly #known = new Map<string, ReturnType<AuditLog["subjects"]["behind"]>>();

  constructor(log: AuditLog, scope: Scope) {
    this.#log = log;
    this.#scope = scope;
  }

  async shown(index: number, entry: LeafEntry): Promise<AuditEntry> {
    const actor = await this.#behind(entry.actor);
    const [ip, userAgent, requestId] = originOf(actor?.known, entry.origin);
    return {
      index,
      at: entry.at,
      verb: entry.verb,
      action: entry.action,
      outcome: entry.outcome,
      status: entry.status,
      actor: subjectOf(entry.actor, actor),
      acted_for: entry.for === undefined ? null : subjectOf(entry.for, await this.#behind(entry.for)),
      role: entry.role,
      via: entry.via,
      key_id: entry.key,
      resource: entry.resource,
      ids: await this.#ids(entry.ids),
      face: entry.face,
      ip,
      user_agent: userAgent,
      request_id: requestId,
    };
  }

  async #ids(ids: LeafEntry["ids"]): Promise<Readonly<Record<string, string>>> {
    const clear = await Promise.all(
      Object.entries(ids).map(async ([name, id]) => {
        const subject = id.startsWith("~") ? await this.#behind(id.slice(1)) : undefined;
        return [name, subject?.id ?? id] as const;
      }),
    );
    return Object.fromEntries(clear);
  }

  #behind(token: string): ReturnType<AuditLog["subjects"]["behind"]> {
    let subject = this.#known.get(token);
    if (subject === undefined) {
      subject = this.#log.subjects.behind(this.#scope, token);
      this.#known.set(token, subject);
    }
    return subject;
  }
}

function subjectOf(token: string, known: { readonly id: string } | undefined): AuditSubject {
  return { token, id: known?.id ?? null };
}

function originOf(
  actor: KnownSubject | undefined,
  sealed: string,
): readonly [string | null, string | null, string | null] {
  const text = actor?.open(sealed);
  return text === undefined ? [null, null, null] : (JSON.parse(text) as [string | null, string | null, string | null]);
}

function isBefore({ at }: LeafEntry, from: string | undefined): boolean {
  return from !== undefined && Date.parse(at) < timeOf(from, "from") - auditLimits.clockSkewMs;
}

function timeOf(text: string, name: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw invalid(`${name}: must be a time such as 2026-11-19T00:00:00.000Z.`);
  return time;
}

function limitOf(limit: number = auditLimits.pageEntriesDefault): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= auditLimits.pageEntriesMax) return limit;
  throw invalid(`limit: must be a whole number from 1 to ${auditLimits.pageEntriesMax}.`);
}

function beforeOf(cursor: string | undefined): number {
  if (cursor === undefined) return Infinity;
  if (/^[1-9]\d{0,14}$/.test(cursor)) return Number(cursor);
  throw invalid("cursor: is not a cursor of this list. Omit it to start over.");
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
