/** What a search engine must offer to be measured. Peers and our own engine have the same shape; a search may be sync or async. */
import { rssBytesOf } from "./processes.ts";

/** Rows to index: row `i` is `vectors[i * dims, (i + 1) * dims)`, of length one; its id is `i`. */
export interface VectorSet {
  readonly name: string;
  readonly rows: number;
  readonly dims: number;
  readonly vectors: Float32Array<ArrayBuffer>;
  /** 0 to 9, so that a value matches 10 % of the rows; independent of the vectors. */
  readonly tag10: Uint8Array;
  /** 0 to 99, so that a value matches 1 % of the rows. */
  readonly tag1: Uint8Array;
}

export interface TextSet {
  readonly name: string;
  readonly rows: number;
  readonly texts: readonly string[];
}

export type Field = "tag10" | "tag1";

export interface Filter {
  readonly field: Field;
  readonly equals: number;
}

/** The parameter that trades time for recall: ef, the lists to visit, or several such numbers at once. */
export type Parameter = number | readonly number[];
export type Ids = ArrayLike<number>;

export interface Build {
  readonly buildMs: number;
  /** CPU time of the engine's process, all threads. */
  readonly buildCpuMs: number;
  readonly diskBytes: number;
}

export interface Candidate<Data = VectorSet, Query = Float32Array> {
  readonly name: string;
  /** Versions and settings, for the reader of the table. */
  readonly note: string;
  /** What to try, the cheapest first. */
  readonly parameters: readonly Parameter[];
  /** Why it cannot filter; absent if it can. */
  readonly noFilter?: string;
  build(data: Data): Promise<Build>;
  search(query: Query, k: number, parameter: Parameter, filter?: Filter): Ids | Promise<Ids>;
  /** CPU time so far of the process that searches: this one, or the server. */
  cpuMs(): number;
  /** Resident memory of the process that searches. */
  rssBytes(): number;
  close(): Promise<void>;
}

/** What a file in peers/ exports: `open` for vectors, `openText` for keywords. It may write into `dir`, and throws if it is unavailable. */
export interface PeerModule {
  open?(dir: string): Promise<Candidate>;
  openText?(dir: string): Promise<Candidate<TextSet, readonly string[]>>;
}

/** `cpuMs` and `rssBytes` of a candidate that runs inside this process. */
export const inProcess = {
  cpuMs: (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  rssBytes: (): number => rssBytesOf([process.pid]),
};

/** Starts to measure a build; call the result at its end. */
export function startBuild(cpuMs: () => number): (diskBytes: number) => Build {
  const cpu = cpuMs();
  const start = performance.now();
  return (diskBytes) => ({ buildMs: performance.now() - start, buildCpuMs: cpuMs() - cpu, diskBytes });
}
