/**
 * Converts nodes of LlamaIndex to rows of Pinakes and back: the text as text, everything else in the metadata, as in LlamaIndex's stores.
 */
import { MetadataMode, TextNode, type BaseNode } from "@llamaindex/core/schema";
import { metadataDictToNode, nodeToMetadata } from "@llamaindex/core/vector-store";
import { invalidInput, toJsonObject, type JsonObject, type NewRow } from "@pinakes/client";

/** Lists the fields with an empty string or list, which a filter cannot query. */
export const emptyFields = "_empty_fields";
const nodeContent = "_node_content";
const texts: ReadonlySet<string> = new Set(["TEXT", "INDEX", "DOCUMENT"]);

export function toRow(node: BaseNode, i: number): NewRow {
  if (!texts.has(node.type)) throw invalidInput(`nodes[${i}]: has type ${node.type}; only text nodes can be stored.`);
  const own = toJsonObject(node.metadata, `nodes[${i}].metadata`);
  const empty = Object.entries(own).filter(([, value]) => value === "" || (Array.isArray(value) && value.length === 0));
  return {
    id: node.id_,
    vector: node.getEmbedding(),
    text: node.getContent(MetadataMode.NONE),
    metadata: {
      ...toJsonObject(nodeToMetadata(node, true), `nodes[${i}].metadata`),
      [emptyFields]: empty.map(([name]) => name),
    },
  };
}

/** Rows that LlamaIndex did not write become text nodes with their metadata. */
export function toNode(id: string, text: string, metadata: JsonObject): BaseNode {
  const { [emptyFields]: _, ...rest } = metadata;
  if (typeof rest[nodeContent] !== "string") return new TextNode({ id_: id, text, metadata: rest });
  const node = metadataDictToNode(rest);
  node.setContent(text);
  return node;
}

/** Without what this package and LlamaIndex keep there for themselves. */
export function ownMetadata(metadata: JsonObject): JsonObject {
  const { [emptyFields]: _empty, [nodeContent]: _node, _node_type, doc_id: _doc, ref_doc_id: _ref, ...own } = metadata;
  return _node === undefined ? metadata : own;
}
