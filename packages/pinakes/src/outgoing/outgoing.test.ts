import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo, LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fetchFrom } from "./fetch-from.ts";
import { guardedLookup, isRefused } from "./guarded-lookup.ts";
import { isEndpoint, isWithin, readHttpAddress } from "./http-address.ts";
import { narrowedBy, readPostgresAddress, showPostgresAddress } from "./postgres-address.ts";
import { postgresPassword } from "./postgres-password.ts";

const pg = (text: string) => readPostgresAddress(text, "postgres");

describe("the address of a PostgreSQL", () => {
  it("is parsed into its parts, and shown without its password", () => {
    expect(pg("postgresql://ann:se%40cret@DB.example:6432/my%20db?sslmode=verify-full")).toEqual({
      host: "db.example",
      port: 6432,
      user: "ann",
      password: "se@cret",
      database: "my db",
      sslMode: "verify-full",
    });
    expect(showPostgresAddress(pg("postgres://ann:secret@[::1]/db"))).toBe("postgres://ann@[::1]:5432/db");
  });

  it.each([
    ...[
      "host=evil",
      "port=1",
      "hostaddr=10.0.0.1",
      "service=x",
      "sslcert=/etc/passwd",
      "sslrootcert=/x",
      "user=root",
      "password=x",
      "options=-c",
      "ssl=0",
    ].map((query) => `postgres://u@h/db?${query}`),
    "postgres://u@h/db?sslmode=verify-full&sslmode=disable",
    "postgres://u@h/db?sslmode=prefer",
    "postgres://u@%2Fvar%2Frun/db",
    "postgres://u@h1,h2/db",
    "postgres:///db",
    "postgres://u@h/db#x",
    "postgres://u@h\\@evil/db",
    "socket:/var/run?db=x",
    "/var/run db",
    "http://h/db",
  ])("refuses %s", (text) => {
    expect(() => pg(text)).toThrow(expect.objectContaining({ code: "INVALID" }));
  });

  it("cannot be widened by the caller: user, database and sslmode of the operator win", () => {
    const listed = pg("postgres://reader@h:5432/legacy?sslmode=verify-full");
    expect(narrowedBy(pg("postgres://h/legacy"), listed)).toEqual(listed);
    for (const other of [
      "postgres://root@h/legacy",
      "postgres://h/other",
      "postgres://h/legacy?sslmode=disable",
      "postgres://h:5433/legacy",
      "postgres://g/legacy",
    ])
      expect(narrowedBy(pg(other), listed), other).toBeUndefined();
    expect(narrowedBy(pg("postgres://me@h/x"), pg("postgres://h"))).toEqual(pg("postgres://me@h/x"));
  });

  it("gets only a password that was configured for it", async () => {
    const [a, b] = [pg("postgres://u@a/db"), pg("postgres://u@b/db")];
    const env = { PGPASSWORD: "secret", PGPASSFILE: "/nowhere" };
    const refused = expect.objectContaining({ code: "UNAVAILABLE", retryable: false }) as unknown;
    await expect(postgresPassword({ ...a, password: "own" }, [a, b], env)).resolves.toBe("own");
    await expect(postgresPassword(a, [a], env)).resolves.toBe("secret");
    await expect(postgresPassword(b, "any", env)).resolves.toBe("secret");
    await expect(postgresPassword(b, [a, b], env)).rejects.toEqual(refused);
    await expect(postgresPassword(a, [a, b], { ...env, PGHOST: "a" })).resolves.toBe("secret");
    await expect(postgresPassword(a, [a, b], { ...env, PGHOST: "a", PGPORT: "5433" })).rejects.toEqual(refused);
    await expect(postgresPassword(b, [b], { ...env, PGHOST: "a" })).rejects.toEqual(refused);
    const file = join(mkdtempSync(join(tmpdir(), "pgpass-")), "pgpass");
    writeFileSync(file, "# mine\n*:*:*:*:for-any\nb:5432:*:u:b\\:secret\n");
    await expect(postgresPassword(b, [a, b], { PGPASSFILE: file })).resolves.toBe("b:secret");
    await expect(postgresPassword(a, [a, b], { PGPASSFILE: file })).rejects.toEqual(refused);
    await expect(postgresPassword(a, "any", { PGPASSFILE: file })).resolves.toBe("for-any");
  });
});

describe("an HTTP address", () => {
  it("is scheme, host, port and path; others are below it or not", () => {
    const allowed = readHttpAddress("http://h:8000/chroma/", "server");
    expect(allowed).toEqual({ origin: "http://h:8000", path: "/chroma" });
    const below = (text: string) => isWithin(readHttpAddress(text, "server"), allowed);
    expect(below("http://h:8000/chroma/x")).toBe(true);
    for (const other of [
      "http://h:8000/chroma2",
      "http://h:8000/chroma/../x",
      "https://h:8000/chroma",
      "http://h:8001/chroma",
    ])
      expect(below(other)).toBe(false);
  });

  it.each(["http://u:p@h/", "http://h/?a=b", "http://h/#x", "http://h\\@evil/", "ftp://h/", "http:h", "http://h/ x"])(
    "refuses %s",
    (text) => {
      expect(isEndpoint(text)).toBe(false);
    },
  );
});

describe("names", () => {
  it("that resolve into the machine's own network are rejected", async () => {
    for (const address of [
      "169.254.169.254",
      "0.0.0.0",
      "224.0.0.1",
      "100.100.100.200",
      "fe80::1",
      "fd00:ec2::254",
      "::ffff:169.254.169.254",
      "::",
    ])
      expect(isRefused({ address }), address).toBe(true);
    for (const address of ["127.0.0.1", "10.0.0.1", "192.168.1.1", "8.8.8.8", "::1", "fd12::1"])
      expect(isRefused({ address }), address).toBe(false);
    const ask = (lookup: LookupFunction) =>
      new Promise((resolve, reject) =>
        lookup("db", { all: true }, (error, found) => (error === null ? resolve(found) : reject(error))),
      );
    const [good, bad] = [
      { address: "10.0.0.1", family: 4 },
      { address: "169.254.169.254", family: 4 },
    ];
    await expect(ask(guardedLookup((_name, _options, answer) => answer(null, [good])))).resolves.toEqual([good]);
    await expect(ask(guardedLookup((_name, _options, answer) => answer(null, [good, bad])))).rejects.toMatchObject({
      code: "FORBIDDEN",
    });
  });
});

it("returns redirects as answers, and bounds an answer", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url === "/away") response.writeHead(307, { location: "/secret" }).end();
    else response.end("x".repeat(1_000));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { signal } = new AbortController();
  await expect(
    fetchFrom(`${url}/away`, { method: "POST", body: "{}", signal, answerBytesMax: 1_000 }),
  ).resolves.toMatchObject({ status: 307 });
  await expect(fetchFrom(url, { signal, answerBytesMax: 1_000 })).resolves.toMatchObject({
    status: 200,
    text: "x".repeat(1_000),
  });
  await expect(fetchFrom(url, { signal, answerBytesMax: 999 })).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
  expect(asked).toEqual(["/away", "/", "/"]);
  server.closeAllConnections();
  server.close();
});
