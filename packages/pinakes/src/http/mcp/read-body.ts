/** The JSON body of a POST to `/mcp`, within its limits. */
import { isJsonContentType } from "@modelcontextprotocol/server";
import { hasCode } from "../../domain/errors.ts";
import { bodyChunks } from "../framework/body/body.ts";
import { rpcCodes, rpcError } from "./json-rpc.ts";

/** A file of 10 MB is 14 MB of base64. Larger files are uploaded over `/v1`. */
export const mcpBodyBytesMax = 16 * 1_048_576;
const depthMax = 256;

/** The parsed body, or the answer that refuses it. */
export async function readBody(request: Request): Promise<unknown> {
  if (!isJsonContentType(request.headers.get("content-type")))
    return rpcError(415, rpcCodes.refused, "Unsupported Media Type: Content-Type must be application/json.");
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of bodyChunks(request, mcpBodyBytesMax)) chunks.push(chunk);
  } catch (error) {
    if (!hasCode(error, "LIMIT_EXCEEDED")) throw error;
    return rpcError(413, rpcCodes.refused, `The body is larger than ${mcpBodyBytesMax} bytes. Upload large files over /v1.`);
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    if (isTooDeep(text)) return rpcError(400, rpcCodes.parse, `Parse error: nested deeper than ${depthMax} levels.`);
    return JSON.parse(text) as unknown;
  } catch {
    return rpcError(400, rpcCodes.parse, "Parse error: the body is not JSON in UTF-8.");
  }
}

/** Before parsing: recursive readers of the value must not run out of stack. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charCodeAt(i);
    if (quoted) {
      if (char === 0x5c) i += 1;
      else if (char === 0x22) quoted = false;
    } else if (char === 0x22) quoted = true;
    else if (char === 0x7b || char === 0x5b) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (char === 0x7d || char === 0x5d) depth -= 1;
  }
  return false;
}
