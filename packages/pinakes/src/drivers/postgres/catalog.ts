/**
 * What this process knows of the containers it has opened. Another process may change them: a commit notices at once (it reads the version
 * under the container's lock), other calls within five seconds.
 */
import { performance } from "node:perf_hooks";
import { compileContainer, type CompiledContainer, type NormalDefinition } from "../../items/compiled-container.ts";
import type { Session } from "./connection.ts";
import type { Names } from "./names.ts";

/** Refreshed in the background after this, so that a busy process hardly ever waits for it. */
const refreshAfterMs = 2_500;
/** A process that was idle for longer refreshes before it answers. */
const staleAfterMs = 5_000;

export interface IndexState {
  readonly column: string;
  readonly ready: boolean;
  readonly rowsDone: number;
  readonly rowsTotal: number | null;
  /** The last row that was filled in; null before the first. */
  readonly cursor: readonly [pk: string, id: string] | null;
  readonly error: string | null;
}

export interface Loaded {
  readonly compiled: CompiledContainer;
  readonly table: string;
  readonly feed: string;
  /** Aligned with the indexes of `compiled`. */
  readonly columns: readonly string[];
  /** By index name. Advances while the definition stays. */
  states: ReadonlyMap<string, IndexState>;
}

export class Catalog {
  readonly #names: Names;
  readonly #current = new Map<string, Loaded>();
  readonly #byCompiled = new WeakMap<CompiledContainer, Loaded>();
  #checkedAt = -Infinity;
  #checking: Promise<void> | undefined;

  constructor(names: Names) {
    this.#names = names;
  }

  get(name: string): Loaded | undefined {
    return this.#current.get(name);
  }

  /** The container in the very version that a call was planned for. */
  of(container: CompiledContainer): Loaded {
    return this.#byCompiled.get(container.base ?? container) as Loaded;
  }

  /** From now on calls may name it. */
  open(loaded: Loaded): void {
    const { name, version } = loaded.compiled;
    // Answers may overtake each other; an older one is ignored.
    if ((this.#current.get(name)?.compiled.version ?? 0) < version) this.#current.set(name, loaded);
  }

  /** Reads containers, and refreshes the open ones; those that are not stored are missing in the answer. */
  async load(session: Session, ...containers: readonly string[]): Promise<Map<string, Loaded>> {
    const rows = await session.query<StoredRow>(
      `SELECT c.name, c.definition, c.version, i.name, i.column_name, i.ready, i.rows_done, i.rows_total, i.cursor_pk, i.cursor_id, i.error
       FROM ${this.#names.containers} c LEFT JOIN ${this.#names.indexes} i ON i.container = c.name WHERE c.name = ANY ($1)`,
      [containers],
    );
    const found = new Map<string, Loaded>();
    for (const [name, own] of Map.groupBy(rows, ([container]) => container)) found.set(name, this.#adopt(name, own));
    return found;
  }

  #adopt(name: string, rows: readonly StoredRow[]): Loaded {
    const [[, definition, version]] = rows as [StoredRow];
    const states = new Map(rows.flatMap((row) => (row[3] === null ? [] : [[row[3], toState(row)] as const])));
    const current = this.#current.get(name);
    if (current?.compiled.version === version) {
      current.states = states;
      return current;
    }
    const compiled = compileContainer(JSON.parse(definition) as NormalDefinition, version);
    const columns = compiled.indexes.map((index) => states.get(index.name)?.column as string);
    const loaded: Loaded = { compiled, table: this.#names.table(name), feed: this.#names.feed(name), columns, states };
    this.#byCompiled.set(compiled, loaded);
    if (current !== undefined) this.open(loaded);
    return loaded;
  }

  /** Called by reads, which check no version. Await its result: what is known is too old to be used. */
  notice(session: Session): Promise<void> | undefined {
    const age = performance.now() - this.#checkedAt;
    if (age < refreshAfterMs) return undefined;
    this.#checking ??= this.#check(session);
    return age < staleAfterMs ? undefined : this.#checking;
  }

  async #check(session: Session): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.load(session, ...this.#current.keys());
      this.#checkedAt = startedAt;
    } catch {
      // The call itself reports any connection error; the refresh is repeated anyway.
    } finally {
      this.#checking = undefined;
    }
  }

  async close(): Promise<void> {
    this.#current.clear();
    await this.#checking;
  }
}

type StoredRow = [
  string,
  string,
  number,
  string | null,
  string,
  boolean,
  number,
  number | null,
  string | null,
  string | null,
  string | null,
];

function toState([, , , , column, ready, rowsDone, rowsTotal, cursorPk, cursorId, error]: StoredRow): IndexState {
  return {
    column,
    ready,
    rowsDone,
    rowsTotal,
    cursor: cursorPk === null || cursorId === null ? null : [cursorPk, cursorId],
    error,
  };
}

/** 0…1; the last hundredth is the index itself, after every row has its key. */
export function progressOf({ ready, rowsDone, rowsTotal }: IndexState): number {
  if (ready) return 1;
  return rowsTotal === null || rowsTotal === 0 ? 0 : Math.min(0.99, rowsDone / rowsTotal);
}
