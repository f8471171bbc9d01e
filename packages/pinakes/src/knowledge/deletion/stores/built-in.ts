/** The stores of the knowledge feature as participants of the lifecycle (RFC 0007). */
import type { Participant } from "../../../lifecycle/index.ts";
import type { KnowledgeDependencies } from "../../dependencies.ts";
import { DocumentsStore } from "./documents-store.ts";
import { ObjectsStore } from "./objects-store.ts";
import { TriplesStore } from "./triples-store.ts";
import { VectorsStore } from "./vectors-store.ts";

export type Stores = Pick<KnowledgeDependencies, "items" | "objects" | "vectors" | "triples">;

/** The documents first: their fence stops all writers, and names the vector collections. */
export function builtInStores(deps: Stores): readonly Participant[] {
  return [new DocumentsStore(deps), new VectorsStore(deps), new ObjectsStore(deps), new TriplesStore(deps.triples)];
}

/** Incarnations are UUIDs; data under other names belongs to another feature. */
export function isIncarnation(name: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(name);
}
