/** text-load and document-load: load a document directly into a collection. Loading it again under the same id replaces it. */
import { hash } from "node:crypto";
import { invalid, show } from "../../../../domain/errors.ts";
import { personalAlias } from "../../../../knowledge/index.ts";
import type { Call } from "../call.ts";
import { base64, decodeBase64, optionalText, text } from "../fields.ts";
import { readTriples } from "../terms.ts";
import { ensureCollection, requireWriter, type Message, type Service, type ServiceDependencies } from "./service.ts";

export function textLoad(deps: ServiceDependencies): Service {
  return async (call) => {
    requireWriter(call);
    return load(deps, call, Buffer.from(textOf(call), "utf8"), "txt");
  };
}

export function documentLoad(deps: ServiceDependencies): Service {
  return async (call) => {
    requireWriter(call);
    const bytes = base64(call.request["data"], "data");
    return load(deps, call, bytes, bytes.subarray(0, 5).toString("latin1") === "%PDF-" ? "pdf" : "txt");
  };
}

async function load(deps: ServiceDependencies, call: Call, bytes: Buffer, extension: string): Promise<Message> {
  const { caller, request } = call;
  const collection = optionalText(request, "collection", "default");
  const sent = request["metadata"];
  const triples = Array.isArray(sent) ? readTriples({ metadata: sent as unknown[] }, "metadata") : [];
  const id = optionalText(request, "id", `urn:sha256:${hash("sha256", bytes, "hex")}`);
  await ensureCollection(deps, call, collection);
  await deps.knowledge.documents.upload(caller, personalAlias, collection, {
    name: nameOf(id, extension),
    body: bytes,
    source: { type: "manual", uri: `trustgraph:${id}` },
    metadata: { trustgraph_id: id },
    replace: true,
  });
  if (triples.length > 0) await deps.knowledge.graph.addTriples(caller, personalAlias, collection, triples);
  return {};
}

function nameOf(id: string, extension: string): string {
  const base =
    id
      .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
      .replaceAll(/^[-.]+|[-.]+$/g, "")
      .slice(-80) || "document";
  return base.toLowerCase().endsWith(`.${extension}`) ? base : `${base}.${extension}`;
}

/** Base64 of text in the named charset; the newer gateway also accepts plain text. */
function textOf({ request, dialect }: Call): string {
  const sent = text(request, "text");
  const charset = optionalText(request, "charset", "utf-8");
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch (error) {
    throw invalid(`charset: ${show(charset)} is unknown.`, { cause: error });
  }
  const bytes = decodeBase64(sent);
  try {
    if (bytes !== undefined) return decoder.decode(bytes);
  } catch (error) {
    if (dialect === "old") throw invalid(`text: is not valid ${charset}.`, { cause: error });
  }
  if (dialect === "old") throw invalid("text: must be a base64 string.");
  return sent;
}
