/** /docs: the reference for people, rendered from the OpenAPI document. No scripts, no external resources. */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Hono } from "hono";
import type { KitEnv } from "../context.ts";
import { isUnchanged, quoteEtag } from "../etag.ts";
import type { Route } from "../route.ts";
import { constraintsOf, exampleOf, type FieldRow, fieldRows, type Schemas, typeName } from "./fields.ts";
import type { JsonSchema } from "./openapi-schemas.ts";
import {
  type ApiInfo,
  type Content,
  openApi,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type ResponseObject,
} from "./openapi.ts";
import { docsStyle } from "./style.ts";

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Serves /v1/openapi.json, /docs and its style sheet. Must be called after mount, so that they get its headers. */
export function mountReference(app: Hono<KitEnv>, routes: readonly Route[], info: ApiInfo): void {
  const document = openApi(routes, info);
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "/v1/openapi.json": ["application/json", `${JSON.stringify(document)}\n`],
    "/docs": ["text/html; charset=utf-8", docsPage(document)],
    "/docs/style.css": ["text/css; charset=utf-8", docsStyle],
  };
  for (const [path, [type, text]] of Object.entries(files)) {
    const etag = createHash("sha256").update(text).digest("base64url").slice(0, 22);
    const zipped = new Uint8Array(gzipSync(text));
    app.get(path, (c) => {
      const headers = { etag: quoteEtag(etag), "cache-control": "no-cache", vary: "accept-encoding" };
      if (isUnchanged(c.req.header("if-none-match") ?? null, etag)) return new Response(null, { status: 304, headers });
      const zips = c.req.header("accept-encoding")?.includes("gzip") === true;
      return new Response(zips ? zipped : text, {
        headers: { ...headers, "content-type": type, ...(zips ? { "content-encoding": "gzip" } : {}) },
      });
    });
  }
}

export function docsPage(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Entry => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = document.tags.map((tag) => ({
    tag,
    entries: entries.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const { title, version, description } = document.info;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · API reference</title>
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the routes</a>
<nav aria-label="Routes">
<p class="brand"><a href="#top">${title}</a> <span>${version}</span></p>
${groups.map(
  ({ tag, entries: of }) => html`<details open>
<summary>${tag.name}</summary>
<ul>${of.map(({ method, path, operation }) => html`<li><a href="#${operation.operationId}" title="${method} ${path}">${badge(method)}<span>${operation.summary}</span></a></li>`)}</ul>
</details>
`,
)}</nav>
<main id="content">
<header id="top">
<h1>${title}</h1>
${description === undefined ? nothing : html`<p class="lead">${description}</p>`}
<p>This page is generated from <a href="/v1/openapi.json">the OpenAPI document</a>, which is generated from the routes. Examples use two shell variables:
<code>$PINAKES_URL</code>, the address of this server, and <code>$PINAKES_KEY</code>, an API key.</p>
</header>
${groups.map(({ tag, entries: of }) => section(tag, of, document))}
</main>
</body>
</html>
`;
  return page.text;
}

function section(tag: OpenApiDocument["tags"][number], entries: readonly Entry[], document: OpenApiDocument): Html {
  return html`<section aria-label="${tag.name}">
<h2>${tag.name}</h2>
${tag.description === undefined ? nothing : html`<p>${tag.description}</p>`}
${entries.map((entry) => route(entry, document))}</section>
`;
}

function route(entry: Entry, { components }: OpenApiDocument): Html {
  const { method, path, operation } = entry;
  const { schemas } = components;
  return html`<article id="${operation.operationId}">
<h3><a href="#${operation.operationId}">${operation.summary}</a></h3>
<p class="path">${badge(method)}<code>${pathHtml(path)}</code>${operation.security.length === 0 ? html` <span class="note">public</span>` : nothing}</p>
${operation.description === undefined ? nothing : html`<p>${operation.description}</p>`}
${parametersTable(operation.parameters ?? [])}
${operation.requestBody === undefined ? nothing : bodyTables(operation.requestBody, schemas)}
${answersTable(operation.responses, schemas)}
<h4>Example</h4>
<pre tabindex="0"><code>${curlExample(entry, schemas)}</code></pre>
</article>
`;
}

function parametersTable(parameters: readonly Parameter[]): Html {
  if (parameters.length === 0) return nothing;
  const rows = parameters.map(({ name, required, description = "", schema, in: place }) => ({
    place,
    row: { name, depth: 0, type: typeName(schema), required, description, constraints: constraintsOf(schema) },
  }));
  return html`<h4>Parameters</h4>
<div class="scroll"><table><thead><tr><th>name</th><th>in</th><th>type</th><th>meaning</th></tr></thead>
<tbody>${rows.map(({ place, row }) => html`<tr>${nameCell(row)}<td>${place}</td><td class="type">${row.type}</td>${meaningCell(row)}</tr>`)}</tbody></table></div>`;
}

function bodyTables({ required, content }: NonNullable<Operation["requestBody"]>, schemas: Schemas): Html {
  return html`${Object.entries(content).map(([type, { schema }]) => {
    const rows = schema === undefined ? [] : fieldRows(schema, schemas);
    const form =
      rows.length > 0
        ? fieldTable(rows)
        : html`<p>${schema === undefined ? "The bytes as they are." : typeName(schema)}</p>`;
    return html`<h4>Body <span class="note">${type}${required ? "" : ", may be absent"}</span></h4>
${form}`;
  })}`;
}

function answersTable(responses: Operation["responses"], schemas: Schemas): Html {
  const own = Object.entries(responses).filter((entry): entry is [string, ResponseObject] => !("$ref" in entry[1]));
  return html`<h4>Answers</h4>
<dl class="answers">${own.map(([status, { description, content = {} }]) => html`<dt><code>${status}</code></dt><dd>${description} ${answerBody(content, schemas)}</dd>`)}
<dt><code>4xx 5xx</code></dt><dd>A problem: <code>code</code>, <code>detail</code>, <code>retryable</code>, <code>request_id</code>.</dd></dl>`;
}

function answerBody(content: Content, schemas: Schemas): Html {
  return html`${Object.entries(content).map(([type, { schema }]) => {
    const rows = schema === undefined ? [] : fieldRows(schema, schemas);
    const label =
      schema === undefined ? type : type === "application/json" ? typeName(schema) : `${type} ${typeName(schema)}`;
    if (rows.length === 0) return html`<span class="note">${label}</span>`;
    return html`<details><summary>${label === "object" ? "fields" : label}</summary>${fieldTable(rows.map(answered))}</details>`;
  })}`;
}

/** In a response nearly every field is present, and defaults are filled in: neither is worth mentioning. */
function answered(row: FieldRow): FieldRow {
  return {
    ...row,
    required: false,
    constraints: [
      ...(row.required ? [] : ["may be absent"]),
      ...row.constraints.filter((text) => !text.startsWith("default ")),
    ],
  };
}

function fieldTable(rows: readonly FieldRow[]): Html {
  return html`<div class="scroll"><table><thead><tr><th>field</th><th>type</th><th>meaning</th></tr></thead>
<tbody>${rows.map((row) => html`<tr>${nameCell(row)}<td class="type">${row.type}</td>${meaningCell(row)}</tr>`)}</tbody></table></div>`;
}

function nameCell({ name, depth, required }: FieldRow): Html {
  return html`<td class="name depth-${depth}"><code>${name}</code>${required ? html` <span class="required">required</span>` : nothing}</td>`;
}

function meaningCell({ description, constraints }: FieldRow): Html {
  return html`<td>${description}${constraints.map((text) => html` <span class="note">${text}</span>`)}</td>`;
}

function badge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** Highlights parameters, and allows a line break before each segment. */
function pathHtml(path: string): Html {
  return html`${path
    .split(/(?=\/)|(\{\w+\})/)
    .filter((part) => part !== undefined && part !== "")
    .map((part) => (part.startsWith("{") ? html`<em>${part}</em>` : html`<wbr>${part}`))}`;
}

/** A command that can be tried as it stands, once the two variables are set. */
function curlExample(
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

/** The name of the field that takes files. */
function fileField(schema: JsonSchema | undefined): string {
  const properties = Object.entries((schema?.["properties"] ?? {}) as Schemas);
  return properties.find(([, { type }]) => type === "array")?.[0] ?? "file";
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** HTML whose values are escaped unless they are HTML already: forgetting to escape is not possible. */

class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[];

/** @example html`<p title="${name}">${list.map((item) => html`<b>${item}</b>`)}</p>` */
function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0] as string;
  values.forEach((value, i) => {
    text += render(value) + (strings[i + 1] as string);
  });
  return new Html(text);
}

const nothing = new Html("");

function render(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escapeHtml(String(value));
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
