/** The JSON body of a POST to `/mcp`, within its limits. */
import { isJsonContentType } from "@modelcontextprotocol/server";
import { hasCode } from "../../domain/errors.ts";
import { readJson } from "../framework/body/body.ts";
import { rpcCodes, rpcError } from "./json-rpc.ts";

/** A file of 10 MB is 14 MB of base64. Larger files are uploaded over `/v1`. */
export const mcpBodyBytesMax = 16 * 1_048_576;

/** The parsed body, or the answer that refuses it. */
export async function readBody(request: Request): Promise<unknown> {
  if (!isJsonContentType(request.headers.get("content-type")))
    return rpcError(415, rpcCodes.refused, "Unsupported Media Type: Content-Type must be application/json.");
  try {
    const { value } = await readJson(request, mcpBodyBytesMax);
    return value === undefined ? rpcError(400, rpcCodes.parse, "Parse error: the body is empty.") : value;
  } catch (error) {
    if (hasCode(error, "LIMIT_EXCEEDED"))
      return rpcError(413, rpcCodes.refused, `${error.detail} Upload files over /v1.`);
    if (hasCode(error, "INVALID")) return rpcError(400, rpcCodes.parse, `Parse error: ${error.detail}`);
    throw error;
  }
}
