/** TrustGraph's gateway: dispatches requests to services, and formats errors for each version. */
import { show, type PinakesError } from "../../../domain/errors.ts";
import type { Knowledge } from "../../../knowledge/index.ts";
import type { Migrations } from "../../../migrations/index.ts";
import { toPinakesError } from "../../problem.ts";
import { UnknownOperation, UnknownService, UnknownWorkspace, type Call, type Dialect } from "./call.ts";
import { LiveTraffic } from "./live-traffic.ts";
import { Librarian } from "./management/librarian.ts";
import { collectionService } from "./services/collections.ts";
import { coreService } from "./services/cores.ts";
import { documentService } from "./services/documents.ts";
import { documentEmbeddings, embeddings, graphEmbeddings } from "./services/embeddings.ts";
import { flowService, requireFlow } from "./services/flows.ts";
import { documentLoad, textLoad } from "./services/loads.ts";
import type { Reply, Service, ServiceDependencies } from "./services/service.ts";
import { triplesService } from "./services/triples.ts";

export class Gateway {
  readonly deps: ServiceDependencies;
  readonly #global: ReadonlyMap<string, Service>;
  readonly #ofFlows: ReadonlyMap<string, Service>;

  constructor({ knowledge, migrations }: { readonly knowledge: Knowledge; readonly migrations: Migrations }) {
    const deps = {
      knowledge,
      librarian: new Librarian(knowledge.collections, migrations),
      live: new LiveTraffic(),
    };
    this.deps = deps;
    this.#global = new Map([
      ["collection-management", collectionService(deps)],
      ["librarian", documentService(deps)],
      ["knowledge", coreService(deps)],
      ["flow", flowService(deps)],
    ]);
    this.#ofFlows = new Map([
      ["triples", triplesService(deps)],
      ["graph-embeddings", graphEmbeddings(deps)],
      ["document-embeddings", documentEmbeddings(deps)],
      ["embeddings", embeddings(deps)],
      ["text-load", textLoad(deps)],
      ["document-load", documentLoad(deps)],
    ]);
  }

  /** A service of a flow, if the call names one. */
  async answer(service: string, call: Call): Promise<Reply> {
    const known = call.flow === undefined ? this.#global.get(service) : this.#ofFlows.get(service);
    if (known === undefined)
      throw new UnknownService(`Invalid service: ${show(service)} does not exist on this server.`);
    await requireFlow(this.deps.knowledge, call);
    return known(call);
  }
}

export interface ErrorObject {
  readonly type: "request-error" | "unexpected-error" | "gateway-error";
  readonly message: string;
}

export function errorObject(error: unknown, requestId = ""): ErrorObject {
  const known = toPinakesError(error, requestId);
  const type =
    known instanceof UnknownService
      ? "gateway-error"
      : known.status >= 500 && known.code !== "NOT_SUPPORTED"
        ? "unexpected-error"
        : "request-error";
  return { type, message: known.detail };
}

/**
 * Errors have status 200 in both versions, except authentication errors, and errors that the newer gateway detects before it calls a
 * service.
 */
export function statusOf(error: PinakesError, dialect: Dialect): number {
  if (error.code === "UNAUTHENTICATED") return 401;
  if (dialect === "old") return 200;
  if (error instanceof UnknownWorkspace) return 404;
  if (error.code === "FORBIDDEN") return 403;
  return error instanceof UnknownOperation ? 400 : 200;
}
