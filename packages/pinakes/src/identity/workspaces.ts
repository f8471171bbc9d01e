/**
 * The existing workspaces: those that have had a key, and those that a token has named. A record is only used for lists; a workspace works
 * without one.
 */
import { hasCode, PinakesError } from "../domain/errors.ts";
import type { Scope } from "../domain/scope.ts";
import type { Clock } from "../ports/clock.ts";
import { requireAuthenticated, type Authenticated } from "./authenticated.ts";
import type { Notes } from "./notes.ts";
import type { WorkspaceRepository } from "./records.ts";

export interface WorkspaceInfo {
  readonly workspace_id: string;
  readonly created_at: string;
  readonly created_by: string;
}

export interface PageOptions {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly cursor?: string;
}

export interface Workspaces {
  /** Ordered by id; only for the root token. */
  list(auth: Authenticated, options?: PageOptions): Promise<PageOf<WorkspaceInfo>>;
}

const kind = "workspace";
const knownMax = 10_000;

export class WorkspaceBook implements Workspaces {
  readonly #records: WorkspaceRepository;
  readonly #scope: Scope;
  readonly #clock: Clock;
  readonly #notes: Notes;
  /** Workspaces known to have a record, so that each is checked once. */
  readonly #known = new Set<string>();

  constructor(parts: { records: WorkspaceRepository; scope: Scope; clock: Clock; notes: Notes }) {
    this.#records = parts.records;
    this.#scope = parts.scope;
    this.#clock = parts.clock;
    this.#notes = parts.notes;
  }

  /** Creates the record if there is none. */
  async ensure(id: string, createdBy: string): Promise<void> {
    if (this.#known.has(id)) return;
    if ((await this.#records.read(this.#scope, { kind, id })) === undefined) {
      const document = {
        id,
        kind,
        created_at: new Date(this.#clock.now()).toISOString(),
        created_by: createdBy,
      } as const;
      await this.#records.create(this.#scope, document).catch((error: unknown) => {
        // Another process created it concurrently.
        if (!hasCode(error, "CONFLICT")) throw error;
      });
    }
    if (this.#known.size >= knownMax) this.#known.clear();
    this.#known.add(id);
  }

  /** The same, without waiting. */
  notice(id: string, createdBy: string): void {
    if (!this.#known.has(id)) this.#notes.write(`workspace "${id}"`, () => this.ensure(id, createdBy));
  }

  async list(auth: Authenticated, { limit, cursor }: PageOptions = {}): Promise<PageOf<WorkspaceInfo>> {
    if (requireAuthenticated(auth).via !== "root")
      throw new PinakesError("FORBIDDEN", "Only the root token may list workspaces; GET /v1/me returns your own.");
    const page = await this.#records.list(this.#scope, { kind }, { cursor, limit });
    const items = page.items.map(({ id, created_at, created_by }) => ({ workspace_id: id, created_at, created_by }));
    return { items, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
  }
}
