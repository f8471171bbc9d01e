/** The facade for LISA's SDK and user interface, at the server's root. */
import type { Pinakes } from "../../../open.ts";
import type { Route } from "../../framework/index.ts";
import { collectionListRoutes } from "./collection-lists.ts";
import { collectionRoutes } from "./collections.ts";
import { documentRoutes } from "./documents.ts";
import { jobRoutes } from "./jobs.ts";
import { repositoryRoutes } from "./repositories.ts";
import { Resolver } from "./resolve.ts";
import { searchRoutes } from "./search.ts";
import { stagingRoutes } from "./staging.ts";
import { surroundingRoutes } from "./surroundings.ts";

export { lisaErrorBody, lisaPrefixes } from "./lisa-route.ts";

export function lisaRoutes({ knowledge }: Pick<Pinakes, "knowledge">): readonly Route[] {
  const resolver = new Resolver(knowledge);
  return [
    ...repositoryRoutes(knowledge),
    ...stagingRoutes(knowledge, resolver),
    ...collectionListRoutes(knowledge),
    ...collectionRoutes(knowledge, resolver),
    ...documentRoutes(knowledge, resolver),
    ...jobRoutes(knowledge),
    ...searchRoutes(knowledge, resolver),
    ...surroundingRoutes(knowledge),
  ];
}
