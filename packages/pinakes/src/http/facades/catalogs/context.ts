/** The context of a tool call, built from a request. */
import { catalogTools, type CatalogContext, type CatalogEnvelope } from "../../../catalogs/index.ts";
import { embeddedKnowledge } from "../../../embedded-knowledge.ts";
import { invalid, show } from "../../../domain/errors.ts";
import { isJsonObject } from "../../../domain/json.ts";
import { invariant } from "../../../domain/invariant.ts";
import type { Pinakes } from "../../../open.ts";
import type { RouteRequest } from "../../framework/route.ts";
import { originOf } from "../origin.ts";

type CallerRequest = Pick<
  RouteRequest<unknown, unknown, unknown, "caller">,
  "caller" | "auth" | "signal" | "raw" | "header"
>;

export function contextOf(pinakes: Pinakes, request: CallerRequest, sessionId?: string): CatalogContext {
  const { caller, auth, signal } = request;
  return {
    knowledge: embeddedKnowledge(pinakes, caller, auth),
    userId: caller.userId,
    selection: sessionId === undefined ? undefined : pinakes.catalogSelections.slot(caller, sessionId),
    signal,
    baseUrl: originOf(request),
  };
}

/** Validated by the tool, whose clients only know errors in the form of its results. */
export async function runTool(name: string, context: CatalogContext, args: unknown): Promise<CatalogEnvelope> {
  const tool = catalogTools.find((one) => one.name === name);
  invariant(tool !== undefined, "INTERNAL", `there is no tool ${name}`);
  return tool.run(context, args as never);
}

/** Merges the fields of the body and the path; a field in both must have the same value. */
export function argumentsOf(body: unknown, path: Readonly<Record<string, string>>): unknown {
  if (!isJsonObject(body)) return body === undefined ? path : body;
  for (const [name, value] of Object.entries(path))
    if (body[name] !== undefined && body[name] !== value)
      throw invalid(
        `${name}: is ${show(body[name])} in the body and ${show(value)} in the path; omit it from the body.`,
      );
  return { ...body, ...path };
}
