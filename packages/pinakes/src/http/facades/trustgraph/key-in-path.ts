/**
 * A key in front of the path (`http://host/pk_…/api/v1/…`), for clients of 1.4, which send no token: the request is dispatched again with
 * the key as its Authorization. Neither logs nor responses contain the path, so the key stays out of both.
 */
import type { Hono } from "hono";
import type { KitEnv } from "../../framework/index.ts";

const pattern = /^\/(pk_[A-Za-z0-9_-]{1,200})(\/api\/v1\/.+)$/;

export function mountKeyInPath(app: Hono<KitEnv>): void {
  app.all("/:key{pk_[A-Za-z0-9_-]+}/api/v1/*", (c) => {
    const url = new URL(c.req.raw.url);
    const found = splitKey(url.pathname);
    if (found === undefined) return c.notFound();
    url.pathname = found.path;
    const request = new Request(url, c.req.raw);
    if (!request.headers.has("authorization")) request.headers.set("authorization", `Bearer ${found.key}`);
    return app.fetch(request, c.env);
  });
}

/** Also for the address of a socket. */
export function splitKey(pathname: string): { readonly key: string; readonly path: string } | undefined {
  const [, key, path] = pattern.exec(pathname) ?? [];
  return key === undefined || path === undefined ? undefined : { key, path };
}
