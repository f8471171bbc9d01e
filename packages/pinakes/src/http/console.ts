/**
 * The console at `/`, from its build folder. All files are read at startup and kept compressed; browsers may cache files with a hash in
 * their name forever. Paths known to the console return its page; others are not found, which the page itself shows in a browser.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import type { Context, Hono } from "hono";
import { isConsoleRoute } from "./console-routes.ts";
import type { KitEnv, Route } from "./framework/index.ts";
import { isUnchanged, quoteEtag } from "./framework/etag.ts";

interface ConsoleFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly immutable: boolean;
}

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

/** Only scripts and styles of this server, none inline. React sets single style properties by script, which needs no exception. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The SPARQL editor marks tabs with images in its style sheet.
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Whether the folder contains a built console. */
export function hasConsole(folder: string): boolean {
  return existsSync(join(folder, "index.html"));
}

/** Must be called last: it handles what no route matched. */
export function mountConsole(app: Hono<KitEnv>, folder: string, routes: readonly Route[]): void {
  const files = readFiles(folder);
  const page = files.get("index.html");
  const taken = new Set(["docs", "assets", ...routes.map(({ path }) => firstSegment(path.text))]);
  app.get("*", async (c, next) => {
    const { path } = c.req;
    const file = files.get(path.slice(1)) ?? (isConsoleRoute(path) ? page : undefined);
    if (file !== undefined) return answer(c, file);
    // In a browser an old link shows the console's own message; a program gets a problem.
    const browses = !taken.has(firstSegment(path)) && c.req.header("accept")?.includes("text/html") === true;
    return browses && page !== undefined ? answer(c, page, 404) : next();
  });
}

function answer(c: Context<KitEnv>, { type, bytes, zipped, etag, immutable }: ConsoleFile, status = 200): Response {
  const headers: Record<string, string> = {
    etag: quoteEtag(etag),
    "cache-control": immutable ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding",
    "content-security-policy": policy,
  };
  if (status === 200 && isUnchanged(c.req.header("if-none-match") ?? null, etag))
    return new Response(null, { status: 304, headers });
  const zips = c.req.header("accept-encoding")?.includes("gzip") === true;
  return new Response(zips ? zipped : bytes, {
    status,
    headers: { ...headers, "content-type": type, ...(zips ? { "content-encoding": "gzip" } : {}) },
  });
}

function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const full = join(entry.parentPath, entry.name);
    const name = relative(folder, full).split(sep).join("/");
    const bytes = new Uint8Array(readFileSync(full));
    files.set(name, {
      type: types[extname(name)] ?? "application/octet-stream",
      bytes,
      zipped: new Uint8Array(gzipSync(bytes)),
      etag: createHash("sha256").update(bytes).digest("base64url").slice(0, 22),
      immutable: name.startsWith("assets/"),
    });
  }
  return files;
}

function firstSegment(path: string): string {
  return path.split("/")[1] ?? "";
}
