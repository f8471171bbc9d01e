/** The body of a request as text, up to a number of bytes. */
import { tooLarge } from "./documents/items.ts";
import { badRequest } from "./errors.ts";

export async function readText(request: Request, bytesMax: number): Promise<string> {
  if (request.method === "GET" || request.method === "DELETE" || request.body === null) return "";
  if (Number(request.headers.get("content-length") ?? "0") > bytesMax) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw Object.assign(badRequest("The request body is not UTF-8."), { cause: error });
  }
}
