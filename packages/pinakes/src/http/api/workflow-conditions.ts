/** Paths and conditions that the routes of workflows share. */
import { z } from "zod";
import { invalid } from "../../domain/errors.ts";
import type { State } from "../../state/index.ts";
import type { RouteRequest } from "../framework/route.ts";
import { id } from "./schemas.ts";

export type Workflows = State["workflows"];
export type StoredWorkflow = Awaited<ReturnType<Workflows["get"]>>;

export const all = "/v1/workflows";
export const one = `${all}/{wid}`;
export const wid = id.describe("The workflow_id.");
export const params = z.object({ wid });
type Conditional = Pick<
  RouteRequest<unknown, { readonly fencing_token?: number | undefined }>,
  "ifMatch" | "header" | "query"
>;

/** The etag of a workflow with added checkpoints has their version behind a dot, which does not matter to its document. */
export function conditionsOf(request: Conditional): { ifMatch: string | undefined; fencingToken: number | undefined } {
  return { ifMatch: request.ifMatch?.split(".")[0], fencingToken: tokenOf(request) };
}

function tokenOf({ header, query }: Pick<Conditional, "header" | "query">): number | undefined {
  const sent = header("x-fencing-token")?.trim();
  if (sent === undefined || sent === "") return query.fencing_token;
  if (!/^\d{1,15}$/.test(sent))
    throw invalid(`X-Fencing-Token: must be the whole number returned with the lease, got ${JSON.stringify(sent)}.`);
  return Number(sent);
}

export function requiredToken(request: Pick<Conditional, "header" | "query">, inBody?: number): number {
  const token = inBody ?? tokenOf(request);
  if (token === undefined)
    throw invalid(
      "fencing_token: is missing. Send the token returned with the lease, in the body, the query or the header X-Fencing-Token.",
    );
  return token;
}
