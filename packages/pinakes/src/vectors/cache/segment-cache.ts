/**
 * Opened files of this process: in memory that the search threads share, bounded; behind it the disk, if there is a cache folder; behind
 * that the bucket. Each file is verified once, when it enters memory.
 */
import { hasCode, PinakesError } from "../../domain/errors.ts";
import { damagedPages, readHead, type FileRef } from "../segment/file-format.ts";
import { fileBytesOf, loadSegment, segmentOf, writePiece, type LoadedSegment } from "../segment/load-segment.ts";
import type { SegmentBytes } from "../segment-bytes.ts";
import type { SearchPool } from "../search/pool.ts";
import { MissingObject, type CollectionSite } from "../store/collection-site.ts";
import type { SegmentFiles } from "../store/segment-files.ts";
import type { CacheName, DiskCache } from "./disk-cache.ts";

export interface SegmentCacheOptions {
  readonly pool: SearchPool;
  readonly disk: DiskCache | undefined;
  readonly memoryBytesMax: number;
  /** Counts the pages that do not match the page table; in this thread when absent. */
  readonly damagedPages?: (loaded: LoadedSegment, ref: FileRef) => Promise<number>;
  /** Called when a file leaves memory: its holders should release it. */
  readonly onEvict?: (segment: SegmentBytes) => void;
}

interface Entry {
  readonly opened: Promise<SegmentBytes>;
  readonly bytes: number;
}

const pieceBytes = 16 * 1024 ** 2;
const piecesAtOnce = 4;

export class SegmentCache implements SegmentFiles {
  readonly #options: SegmentCacheOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #poolIds = new WeakMap<SegmentBytes, string>();
  /** A file without holders leaves the search threads, too. */
  readonly #unused: FinalizationRegistry<string>;
  #ids = 0;
  #bytes = 0;

  constructor(options: SegmentCacheOptions) {
    this.#options = options;
    this.#unused = new FinalizationRegistry((id) => options.pool.drop(id));
  }

  get memoryBytes(): number {
    return this.#bytes;
  }

  async open(site: CollectionSite, ref: FileRef): Promise<SegmentBytes> {
    return this.#entry(site, ref, () => this.#load(site, ref));
  }

  /** The name by which search threads know a file; a file created in memory is sent to them first. */
  poolId(segment: SegmentBytes): string {
    const known = this.#poolIds.get(segment);
    if (known !== undefined) return known;
    const bytes = Math.max(...Object.values(segment.header.sections).map(([offset, length]) => offset + length));
    const piece = {
      offset: 0,
      bytes: new Uint8Array(segment.buffer, segment.base, Math.min(bytes, segment.buffer.byteLength - segment.base)),
    };
    return this.#register(segment, loadSegment(segment.header, bytes, this.#options.pool.slots, [piece]));
  }

  async forget(site: CollectionSite): Promise<void> {
    const prefix = `${site.name}/`;
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#evict(key);
    await this.#options.disk?.removeCollection(site);
  }

  async #entry(site: CollectionSite, ref: FileRef, make: () => Promise<SegmentBytes>): Promise<SegmentBytes> {
    const key = `${site.name}/${ref.sha256}`;
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known); // The last in the map is the most recently used.
      return known.opened;
    }
    const entry = { opened: make(), bytes: ref.bytes };
    this.#entries.set(key, entry);
    this.#bytes += ref.bytes;
    entry.opened.catch(() => {
      if (this.#entries.get(key) !== entry) return;
      this.#entries.delete(key);
      this.#bytes -= entry.bytes;
    });
    for (const [oldest] of this.#entries) {
      if (this.#bytes <= this.#options.memoryBytesMax || oldest === key) break;
      this.#evict(oldest);
    }
    return entry.opened;
  }

  #evict(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
    entry.opened.then(
      (segment) => this.#options.onEvict?.(segment),
      () => {},
    );
  }

  async #load(site: CollectionSite, ref: FileRef): Promise<SegmentBytes> {
    const { disk } = this.#options;
    const name = nameOf(site, ref);
    const cached = disk === undefined ? undefined : await this.#fromDisk(disk, name, ref);
    if (cached !== undefined) return cached;
    const loaded =
      ref.bytes <= pieceBytes ? await this.#whole(await site.getObject(ref.key), ref) : await this.#inPieces(site, ref);
    disk?.write(name, fileBytesOf(loaded));
    return this.#adopt(loaded);
  }

  /** A damaged or truncated file is removed, and fetched again. */
  async #fromDisk(disk: DiskCache, name: CacheName, ref: FileRef): Promise<SegmentBytes | undefined> {
    const head = new Uint8Array(ref.headBytes);
    if (!(await disk.read(name, ref.bytes, head, 0))) return undefined;
    try {
      const loaded = this.#empty(head, ref);
      if (await disk.read(name, ref.bytes, fileBytesOf(loaded), 0))
        return this.#adopt(await this.#verified(loaded, ref));
    } catch (error) {
      if (!hasCode(error, "CORRUPT")) throw error;
    }
    await disk.remove(name);
    return undefined;
  }

  async #whole(file: Uint8Array, ref: FileRef): Promise<LoadedSegment> {
    if (file.byteLength !== ref.bytes) throw wrongLength(ref, file.byteLength);
    const loaded = this.#empty(file.subarray(0, ref.headBytes), ref);
    writePiece(loaded, 0, file);
    return this.#verified(loaded, ref);
  }

  /** The head first, which tells how much memory the file takes; then the rest, several chunks in parallel, straight into that memory. */
  async #inPieces(site: CollectionSite, ref: FileRef): Promise<LoadedSegment> {
    const head = await this.#range(site, ref, 0, ref.headBytes);
    const loaded = this.#empty(head, ref);
    writePiece(loaded, 0, head);
    let next = ref.headBytes;
    const worker = async (): Promise<void> => {
      while (next < ref.bytes) {
        const start = next;
        next = Math.min(start + pieceBytes, ref.bytes);
        writePiece(loaded, start, await this.#range(site, ref, start, Math.min(start + pieceBytes, ref.bytes)));
      }
    };
    await Promise.all(Array.from({ length: piecesAtOnce }, worker));
    return this.#verified(loaded, ref);
  }

  async #range(site: CollectionSite, ref: FileRef, start: number, end: number): Promise<Uint8Array> {
    const bytes = await site.deps.objects.get(site.scope, ref.key, { range: { start, end } });
    if (bytes === undefined) throw new MissingObject(ref.key);
    if (bytes.byteLength !== end - start) throw wrongLength(ref, start + bytes.byteLength);
    return bytes;
  }

  async #verified(loaded: LoadedSegment, ref: FileRef): Promise<LoadedSegment> {
    const damaged = await (this.#options.damagedPages ?? damagedHere)(loaded, ref);
    if (damaged === 0) return loaded;
    throw new PinakesError(
      "CORRUPT",
      `The object ${ref.key} has ${damaged} corrupt pages. Run fsck on its collection.`,
    );
  }

  #empty(head: Uint8Array, ref: FileRef): LoadedSegment {
    return loadSegment(readHead(head, ref).header, ref.bytes, this.#options.pool.slots);
  }

  #adopt(loaded: LoadedSegment): SegmentBytes {
    const segment = segmentOf(loaded);
    this.#register(segment, loaded);
    return segment;
  }

  #register(segment: SegmentBytes, loaded: LoadedSegment): string {
    this.#ids += 1;
    const id = String(this.#ids);
    this.#poolIds.set(segment, id);
    this.#options.pool.load(id, loaded);
    this.#unused.register(segment, id);
    return id;
  }
}

async function damagedHere(loaded: LoadedSegment, ref: FileRef): Promise<number> {
  const file = fileBytesOf(loaded);
  return damagedPages(file, readHead(file, ref)).length;
}

function wrongLength(ref: FileRef, bytes: number): PinakesError {
  return new PinakesError(
    "CORRUPT",
    `The object ${ref.key} has ${bytes} bytes instead of ${ref.bytes}. Run fsck on its collection.`,
  );
}

function nameOf(site: CollectionSite, ref: FileRef): { tenant: string; collection: string; sha256: string } {
  return { tenant: site.tenant, collection: site.collection, sha256: ref.sha256 };
}
