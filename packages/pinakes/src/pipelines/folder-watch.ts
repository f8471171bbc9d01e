/** Watches one folder: reports changed files in bursts, once they are completely written. Hidden files and links to folders are ignored. */
import { basename } from "node:path";
import { watch, type FSWatcher } from "chokidar";
import { isHidden } from "./folder-reader.ts";

/** A file whose size is stable for this long is complete. */
const writtenMs = 300;
const pollMs = 50;
/** Changes within this time form one burst. */
const burstMs = 200;

export interface FolderWatchOptions {
  readonly folder: string;
  /** Called with one burst at a time; its errors go to `onError`. */
  readonly onChange: (uris: readonly string[]) => Promise<void>;
  /** The folder is no longer watched reliably. */
  readonly onError: (error: unknown) => void;
}

export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watcher: FSWatcher;
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #handling: Promise<void> = Promise.resolve();
  #closed = false;

  private constructor(options: FolderWatchOptions) {
    this.#options = options;
    this.#watcher = watch(options.folder, {
      ignoreInitial: true,
      followSymlinks: false,
      ignored: (path) => path !== options.folder && isHidden(basename(path)),
      awaitWriteFinish: { stabilityThreshold: writtenMs, pollInterval: pollMs },
    });
    for (const event of ["add", "change", "unlink"] as const) this.#watcher.on(event, (path) => this.#note(path));
    this.#watcher.on("error", (error) => options.onError(error));
  }

  /** Every change after this resolves is reported. */
  static async open(options: FolderWatchOptions): Promise<FolderWatch> {
    const opened = new FolderWatch(options);
    await new Promise<void>((resolve, reject) => {
      opened.#watcher.once("ready", resolve);
      opened.#watcher.once("error", reject);
    }).catch(async (error: unknown) => {
      await opened.close();
      throw error;
    });
    return opened;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#watcher.close();
    await this.#handling;
  }

  #note(path: string): void {
    this.#changed.add(`file:${path}`);
    if (this.#closed || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#handling = this.#handling.then(() => this.#tell());
    }, burstMs);
  }

  async #tell(): Promise<void> {
    this.#timer = undefined;
    const uris = [...this.#changed];
    this.#changed.clear();
    if (this.#closed || uris.length === 0) return;
    try {
      await this.#options.onChange(uris);
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
