import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { securityHeaders } from "./security-headers.ts";

function appOf(allowedOrigins: readonly string[] = []): Hono {
  const app = new Hono();
  app.use(securityHeaders({ allowedOrigins }));
  app.get("/page", (c) => c.html("<p>hi"));
  app.get("/data", (c) => c.json({}));
  app.get("/own", (c) => c.json({}, 200, { "content-security-policy": "sandbox" }));
  app.get("/error", () => {
    throw new Error("x");
  });
  app.onError((_, c) => c.json({}, 500));
  return app;
}

describe("http kit: security headers", () => {
  it("are on every answer, errors included; a page may load what is its own, data nothing", async () => {
    for (const path of ["/page", "/data", "/error", "/nothing"]) {
      const { headers } = await appOf().request(path);
      expect([
        headers.get("x-content-type-options"),
        headers.get("x-frame-options"),
        headers.get("referrer-policy"),
      ]).toEqual(["nosniff", "DENY", "no-referrer"]);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain(path === "/page" ? "default-src 'self'" : "default-src 'none'");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    }
    expect((await appOf().request("/own")).headers.get("content-security-policy")).toBe("sandbox");
  });

  it("no other site may call by default", async () => {
    const origin = { origin: "https://evil.example" };
    const { headers } = await appOf().request("/data", { headers: origin });
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    const preflight = await appOf(["https://good.example"]).request("/data", {
      method: "OPTIONS",
      headers: { ...origin, "access-control-request-method": "GET" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("a named origin may, without cookies, and caches keep origins apart", async () => {
    const app = appOf(["https://good.example"]);
    const headers = { origin: "https://good.example", "access-control-request-method": "PATCH" };
    const preflight = await app.request("/data", { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("https://good.example");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("PATCH");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("idempotency-key");
    const response = await app.request("/data", { headers });
    expect(response.headers.get("access-control-expose-headers")).toContain("etag");
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    expect(response.headers.get("vary")).toBe("origin");
    expect((await app.request("/data")).headers.get("vary")).toBe("origin");
  });

  it("what is not an origin is refused at the start", () => {
    for (const bad of ["*", "good.example", "https://good.example/", "https://good.example/path", "null"])
      expect(() => appOf([bad])).toThrow(/is not an origin/);
  });
});
