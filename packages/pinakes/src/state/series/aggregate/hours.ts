/**
 * The hours of a series as columns: from the cache, from a block, or from a scan of their rows. A scan between two equal readings of
 * the stamps is what a block is: it is kept in the cache, and stored when the hour is over and large enough.
 */
import { PinakesError } from "../../../domain/errors.ts";
import type { Scope } from "../../../domain/scope.ts";
import { BlockStore } from "./block-store.ts";
import type { BlockName } from "./blocks.ts";
import { ByteCache } from "../../../runtime/byte-cache.ts";
import { CellCache } from "./cell-cache.ts";
import { knowsDimensions, type Columns } from "./columns.ts";
import { inParallel } from "../../../runtime/in-parallel.ts";
import { scanHours, type HoursOfDay } from "./scan-hours.ts";
import { hourMs, seriesLimits, type Series, type SeriesDependencies } from "../series.ts";
import { readStamps, type DayStamps } from "../stamps.ts";
import { hourStart } from "../time.ts";

export interface HoursOptions {
  readonly cacheBytesMax?: number | undefined;
  readonly cellCacheBytesMax?: number | undefined;
  readonly sealRowsMin?: number | undefined;
}

/** An hour with rows: its columns, or what the caller already knows of it. */
export interface Hour<Known> {
  /** Epoch milliseconds. */
  readonly start: number;
  /** Names these very rows: others never have it. Undefined where rows changed while they were read. */
  readonly key: string | undefined;
  readonly found: Columns | Known;
}

export interface WantedHours {
  readonly hours: readonly number[];
  /** Custom dimensions that the columns must know. */
  readonly dimensions: readonly string[];
}

const blocksAtOnce = 8;

export class Hours {
  readonly blocks: BlockStore;
  readonly cells: CellCache;
  readonly #deps: SeriesDependencies;
  readonly series: Series;
  readonly #cache: ByteCache<Columns>;
  readonly #sealRowsMin: number;

  constructor(deps: SeriesDependencies, series: Series, options: HoursOptions = {}) {
    this.#deps = deps;
    this.series = series;
    this.blocks = new BlockStore(deps.objects, deps.log);
    this.#cache = new ByteCache(options.cacheBytesMax ?? seriesLimits.blockCacheBytesDefault);
    this.#sealRowsMin = options.sealRowsMin ?? seriesLimits.sealRowsMinDefault;
    this.cells = new CellCache({
      bytesMax: options.cellCacheBytesMax ?? seriesLimits.cellCacheBytesDefault,
      rowsMin: this.#sealRowsMin,
    });
  }

  /** The given hours that have rows, in order; columns are loaded only for those that `known` does not cover. */
  async ofDay<Known>(
    scope: Scope,
    date: string,
    { hours: wanted, dimensions }: WantedHours,
    known: (start: number, key: string) => Known | undefined,
  ): Promise<readonly Hour<Known>[]> {
    const stamps = await readStamps(this.#deps.items, scope, this.series, date);
    if (stamps === undefined) return [];
    const found = new Map<number, Hour<Known>>();
    const put = (hour: number, key: string | undefined, of: Columns | Known | undefined): void => {
      if (of !== undefined) found.set(hour, { start: hourStart(date, hour), key, found: of });
    };
    const hours = wanted.filter((hour) => mayHaveRows(stamps, hour));
    const keyOf = (hour: number): string => cacheKey(scope, this.name(date, hour, stamps));
    for (const hour of hours) put(hour, keyOf(hour), known(hourStart(date, hour), keyOf(hour)));
    const unknown = hours.filter((hour) => !found.has(hour));
    await inParallel(unknown, blocksAtOnce, async (hour) =>
      put(
        hour,
        keyOf(hour),
        await this.#known(scope, this.name(date, hour, stamps), this.#mayBeLarge(stamps, hour), dimensions),
      ),
    );
    const missing = hours.filter((hour) => !found.has(hour));
    if (missing.length > 0) {
      for (const [hour, { columns, proven }] of await this.#scan(scope, {
        date,
        hours: missing,
        stamps,
        asked: dimensions,
      }))
        put(hour, proven ? keyOf(hour) : undefined, columns);
    }
    return hours.flatMap((hour) => found.get(hour) ?? []);
  }

  /** Stores the block of an hour that is over, unless there is one or it is too small. */
  async seal(scope: Scope, date: string, hour: number): Promise<void> {
    const stamps = await readStamps(this.#deps.items, scope, this.series, date);
    if (stamps === undefined || !this.#mayBeLarge(stamps, hour)) return;
    if ((await this.blocks.sealedAt(scope, this.name(date, hour, stamps))) === undefined)
      await this.#scan(scope, { date, hours: [hour], stamps, asked: [] });
  }

  name(date: string, hour: number, stamps: DayStamps): BlockName {
    return { series: this.series.name, date, hour, stamp: stamps.of(hour) };
  }

  /** A requested dimension that the columns lack counts as absent. */
  async #known(
    scope: Scope,
    name: BlockName,
    mayBeLarge: boolean,
    dimensions: readonly string[],
  ): Promise<Columns | undefined> {
    const cached = this.#cache.get(cacheKey(scope, name));
    if (cached !== undefined && knowsDimensions(cached, dimensions)) return cached;
    // Hours too small for a block have none to load.
    if (!mayBeLarge) return undefined;
    const stored = await this.blocks.get(scope, name);
    if (stored === undefined || !knowsDimensions(stored, dimensions)) return undefined;
    this.#cache.put(cacheKey(scope, name), stored);
    return stored;
  }

  async #scan(scope: Scope, day: HoursOfDay): Promise<ReadonlyMap<number, Scanned>> {
    const { items } = this.#deps;
    const { date, stamps: before, asked } = day;
    const results = new Map<number, Scanned>();
    const scanned = await scanHours(items, scope, this.series, day);
    const after = await readStamps(items, scope, this.series, date);
    for (const [hour, columns] of scanned) {
      const proven = after?.of(hour) === before.of(hour);
      results.set(hour, { columns, proven });
      if (!proven) continue;
      const name = this.name(date, hour, before);
      this.#cache.put(cacheKey(scope, name), columns);
      // Of an hour with more custom dimensions than a block holds, the block does not follow what each query asks for.
      const isWhole = asked.length === 0 || columns.omitted?.length === 0;
      if (isWhole && columns.rows >= this.#sealRowsMin && this.#isOver(date, hour))
        await this.#store(scope, name, columns);
    }
    return results;
  }

  /** The caller has its rows; a failure to store the block must not fail the call. */
  async #store(scope: Scope, name: BlockName, columns: Columns): Promise<void> {
    try {
      await this.blocks.put(scope, name, columns);
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error;
      this.#deps.log(
        `state: the block of ${name.series} ${name.date}, hour ${name.hour}, of ${scope.tenant} was not stored: ${error.detail}`,
      );
    }
  }

  #mayBeLarge(stamps: DayStamps, hour: number): boolean {
    return stamps.touched || stamps.added(hour) >= this.#sealRowsMin;
  }

  #isOver(date: string, hour: number): boolean {
    return this.#deps.clock.now() >= hourStart(date, hour) + hourMs + seriesLimits.sealDelayMs;
  }
}

interface Scanned {
  readonly columns: Columns;
  /** Read between two equal stamps. */
  readonly proven: boolean;
}

export function mayHaveRows(stamps: DayStamps, hour: number): boolean {
  return stamps.touched || stamps.added(hour) > 0;
}

function cacheKey({ tenant }: Scope, { date, hour, stamp }: BlockName): string {
  return JSON.stringify([tenant, date, hour, stamp]);
}
