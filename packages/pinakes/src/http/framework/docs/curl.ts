/** A command that can be run as is, once the two variables are set. */
import { exampleOf, type Schemas } from "./fields.ts";
import type { JsonSchema } from "./openapi-schemas.ts";
import type { Operation } from "./openapi.ts";

export function curlExample(
  { method, path, operation }: { method: string; path: string; operation: Operation },
  schemas: Schemas,
): string {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === "query" && parameter.required);
  const asked = query
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleOf(schema, schemas, name)))}`)
    .join("&");
  const url = `"$PINAKES_URL${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase())}${asked === "" ? "" : `?${asked}`}"`;
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${url}`];
  if (operation.security.length > 0) lines.push('-H "Authorization: Bearer $PINAKES_KEY"');
  const [type, body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (type === "multipart/form-data") lines.push(`-F ${fileField(body?.schema)}=@report.pdf`);
  else if (type === "application/json") {
    lines.push('-H "Content-Type: application/json"');
    lines.push(`-d ${singleQuoted(JSON.stringify(body?.schema === undefined ? {} : exampleOf(body.schema, schemas)))}`);
  } else if (type !== undefined) {
    lines.push(`-H "Content-Type: ${type}"`, "--data-binary @file");
  }
  return lines.join(" \\\n  ");
}

/** The name of the file field. */
function fileField(schema: JsonSchema | undefined): string {
  const properties = Object.entries((schema?.["properties"] ?? {}) as Schemas);
  return properties.find(([, { type }]) => type === "array")?.[0] ?? "file";
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
