/**
 * /api/v1/flow/{flow}/import/{kind}: frames are stored one after another, each atomically. There are no responses; an invalid frame stores
 * nothing and closes the socket with the reason.
 */
import { personalAlias } from "../../../../knowledge/index.ts";
import type { Authenticated, Credentials } from "../../../framework/index.ts";
import { readCall, type Call, type Request } from "../call.ts";
import { optionalText, record, records, text } from "../fields.ts";
import type { Gateway } from "../gateway.ts";
import { storeChunks, storeEntities, readChunks, readEntities } from "../services/embeddings.ts";
import { ensureCollection, requireWriter } from "../services/service.ts";
import { readTerm, readTriples } from "../terms.ts";
import { closeWith, isOurs, readFrame, type Connection } from "./connection.ts";
import { socketLimits } from "./limits.ts";

export const importKinds = ["triples", "graph-embeddings", "document-embeddings", "entity-contexts"] as const;
export type ImportKind = (typeof importKinds)[number];

export class Import {
  readonly #gateway: Gateway;
  readonly #connection: Connection;
  readonly #kind: ImportKind;
  readonly #flow: string;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  #failed = false;

  constructor(
    gateway: Gateway,
    connection: Connection,
    { kind, flow }: { readonly kind: ImportKind; readonly flow: string },
  ) {
    this.#gateway = gateway;
    this.#connection = connection;
    this.#kind = kind;
    this.#flow = flow;
  }

  serve(credentials: Credentials): void {
    const { ws } = this.#connection;
    ws.on("message", (data, isBinary) => {
      this.#waiting += 1;
      if (this.#waiting > socketLimits.framesWaitingMax) ws.pause();
      this.#last = this.#last
        .then(() => this.#take(credentials, data, isBinary))
        .finally(() => {
          this.#waiting -= 1;
          ws.resume();
        });
    });
  }

  /** Frames accepted before the socket closed are stored. */
  settled(): Promise<void> {
    return this.#last;
  }

  async #take(credentials: Credentials, data: unknown, isBinary: boolean): Promise<void> {
    const { ws, authenticate, take, log, recorded } = this.#connection;
    if (this.#failed) return;
    let auth: Authenticated | undefined;
    try {
      await recorded(
        `import.${this.#kind}`,
        () => auth,
        async () => {
          const frame = readFrame(data, isBinary);
          auth = await authenticate(credentials);
          take(auth);
          const call = callOf(auth, frame, this.#connection.query, this.#flow);
          requireWriter(call);
          await this.#store(call, frame);
        },
      );
    } catch (error) {
      this.#failed = true;
      if (isOurs(error)) log({ error: String(error) }, "a frame of an import failed", "error");
      closeWith(ws, error);
    }
  }

  async #store(call: Call, frame: Request): Promise<void> {
    const { deps } = this.#gateway;
    const collection = optionalText(record(frame, "metadata"), "collection", "default");
    const write = await this.#read(call, collection, frame);
    await ensureCollection(deps, call, collection);
    await write();
    deps.live.emit(call.caller, this.#flow, this.#kind, () => frame);
  }

  /** Reads the whole frame before anything is stored. */
  async #read(call: Call, collection: string, frame: Request): Promise<() => Promise<unknown>> {
    const { knowledge } = this.#gateway.deps;
    switch (this.#kind) {
      case "triples": {
        const metadata = record(frame, "metadata");
        const about = Array.isArray(metadata["metadata"]) ? readTriples(metadata, "metadata") : [];
        const triples = [...readTriples(frame, "triples"), ...about];
        return () => knowledge.graph.addTriples(call.caller, personalAlias, collection, triples);
      }
      case "graph-embeddings": {
        const entities = readEntities(frame);
        return () => storeEntities(knowledge, call, collection, entities);
      }
      case "document-embeddings": {
        const chunks = readChunks(frame);
        return () => storeChunks(knowledge, call, collection, chunks);
      }
      case "entity-contexts": {
        const all = records(frame, "entities").map((one, i) => ({
          entity: readTerm(one["entity"], `entities[${i}].entity`),
          context: text(one, "context"),
        }));
        if (all.length === 0) return async () => {};
        const { vectors } = await knowledge.search.embed(
          call.caller,
          all.map(({ context }) => context),
        );
        const entities = all.map(({ entity }, i) => ({ entity, vectors: [Array.from(vectors[i] as Float32Array)] }));
        return () => storeEntities(knowledge, call, collection, entities);
      }
    }
  }
}

function callOf(auth: Authenticated, frame: Request, query: URLSearchParams, flow: string): Call {
  const workspace = query.get("workspace") ?? undefined;
  return readCall(auth, {
    request: frame,
    flow,
    ...(workspace === undefined || workspace === "" ? {} : { workspace }),
  });
}
