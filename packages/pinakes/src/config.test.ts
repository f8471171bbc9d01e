import { connectionDefaults } from "./config-connections.ts";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "./config.ts";
import { describeItems, describeObjects } from "./config-stores.ts";
import { hasCode } from "./domain/errors.ts";

function problem(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (hasCode(error, "INVALID")) return error.detail;
    throw error;
  }
  throw new Error("the settings were accepted");
}

describe("config", () => {
  it("variables of clients and Kubernetes are ignored; a typo is rejected", () => {
    const beside = {
      PINAKES_URL: "http://x",
      PINAKES_KEY: "pk_1",
      PINAKES_API_KEY: "pk_1",
      PINAKES_SERVICE_HOST: "10.0.0.1",
      PINAKES_SERVICE_PORT: "7430",
      PINAKES_SERVICE_PORT_HTTP: "7430",
      PINAKES_PORT: "tcp://10.0.0.1:7430",
      PINAKES_PORT_7430_TCP: "tcp://10.0.0.1:7430",
      PINAKES_PORT_7430_TCP_PROTO: "tcp",
      PINAKES_PORT_7430_TCP_PORT: "7430",
      PINAKES_PORT_7430_TCP_ADDR: "10.0.0.1",
      PINAKES_WEB_SERVICE_HOST: "10.0.0.2",
    };
    expect(readConfig(beside).port).toBe(7430);
    for (const typo of ["PINAKES_PROT", "PINAKES_HOSTS", "PINAKES_URLS", "PINAKES_SERVICE", "PINAKES_PORT_TCP"])
      expect(() => readConfig({ [typo]: "1" }), typo).toThrow("Unknown setting");
    expect(() => readConfig({ PINAKES_PORT: "tcp" })).toThrow("PINAKES_PORT");
  });

  it("has defaults for everything, and treats an empty variable as unset", () => {
    const expected = {
      host: "127.0.0.1",
      port: 7430,
      stores: {
        data: resolve("data"),
        database: "pinakes",
        formerDatabase: "project-ascension-db",
        items: { engine: "sqlite", dir: resolve("data") },
        objects: { driver: "fs", dir: resolve("data/objects") },
        queue: { driver: "items" },
      },
      vectors: {},
      dropBoxes: [],
      rootToken: undefined,
      audit: "changes",
      auditKey: undefined,
      models: undefined,
      chatModels: undefined,
      oidc: undefined,
      quotas: undefined,
      trashDays: 90,
      quarantineDays: 30,
      deletionLagSeconds: 300,
      topicPrefix: undefined,
      pipelineFolders: [],
      pipelineBuckets: [],
      pipelineQueue: undefined,
      connections: connectionDefaults,
      migrationSources: [],
      allowedOrigins: [],
      publicUrl: undefined,
      requestsPerSecond: 1_000,
      logLevel: "info",
    };
    expect(readConfig({ PATH: "/bin" })).toEqual(expected);
    expect(readConfig({ PINAKES_PORT: "", PINAKES_ITEMS: "", PINAKES_DATA: "" })).toEqual(expected);
  });

  it("puts embedded stores into PINAKES_DATA", () => {
    const { stores } = readConfig({ PINAKES_DATA: "/srv/pinakes" });
    expect(stores).toMatchObject({
      data: "/srv/pinakes",
      items: { engine: "sqlite", dir: "/srv/pinakes" },
      objects: { dir: "/srv/pinakes/objects" },
    });
    expect(
      readConfig({ PINAKES_DATA: "/srv/x", PINAKES_ITEMS: "sqlite:", PINAKES_OBJECTS: "file:" }).stores,
    ).toMatchObject({
      items: { dir: "/srv/x" },
      objects: { dir: "/srv/x/objects" },
    });
  });

  it("reads every kind of item and object store", () => {
    const items = (PINAKES_ITEMS: string) =>
      readConfig({ PINAKES_ITEMS, PINAKES_OBJECTS: "s3://b", PINAKES_DATABASE: "db1" }).stores.items;
    expect(items("sqlite:./here")).toEqual({ engine: "sqlite", dir: resolve("here") });
    expect(items("SQLite:/abs/here")).toEqual({ engine: "sqlite", dir: "/abs/here" });
    expect(items("postgres://u:p@h:5432/n?sslmode=require")).toEqual({
      engine: "postgres",
      url: "postgres://u:p@h:5432/n?sslmode=require",
    });
    expect(items("postgresql://h/n")).toEqual({ engine: "postgres", url: "postgresql://h/n" });
    expect(items("dynamodb://eu-central-1/my-app")).toEqual({
      engine: "dynamodb",
      region: "eu-central-1",
      prefix: "my-app",
    });
    expect(items("dynamodb://eu-central-1")).toEqual({ engine: "dynamodb", region: "eu-central-1", prefix: "db1" });
    expect(items("dynamodb://local/x?endpoint=http://127.0.0.1:8000")).toEqual({
      engine: "dynamodb",
      region: "local",
      prefix: "x",
      endpoint: "http://127.0.0.1:8000",
    });
    expect(items("memory:")).toEqual({ engine: "memory" });
    const objects = (PINAKES_OBJECTS: string) => readConfig({ PINAKES_OBJECTS }).stores.objects;
    expect(objects("file:./o")).toEqual({ driver: "fs", dir: resolve("o") });
    expect(objects("file:///var/o")).toEqual({ driver: "fs", dir: "/var/o" });
    expect(objects("s3://bucket")).toEqual({ driver: "s3", bucket: "bucket", prefix: "" });
    expect(objects("s3://bucket/a%20b/c?region=eu-central-1&endpoint=http://127.0.0.1:9000")).toEqual({
      driver: "s3",
      bucket: "bucket",
      prefix: "a b/c",
      region: "eu-central-1",
      endpoint: "http://127.0.0.1:9000",
    });
    expect(objects("memory:")).toEqual({ driver: "memory" });
  });

  it("reads the address of the queue", () => {
    const queue = (PINAKES_QUEUE: string) => readConfig({ PINAKES_QUEUE }).stores.queue;
    expect(queue("items")).toEqual({ driver: "items" });
    expect(queue("sqs://eu-central-1")).toEqual({ driver: "sqs", region: "eu-central-1" });
    expect(queue("sqs://eu-central-1/app?endpoint=http://127.0.0.1:4566")).toEqual({
      driver: "sqs",
      region: "eu-central-1",
      prefix: "app",
      endpoint: "http://127.0.0.1:4566",
    });
  });

  it("R-CMP-30 the retention of earlier versions can be set, for example to 35 days", () => {
    const { vectors } = readConfig({ PINAKES_VECTOR_RETENTION_DAYS: "35", PINAKES_VECTOR_MEMORY_MB: "512" });
    expect(vectors).toEqual({ policy: { retentionMs: 35 * 86_400_000 }, memoryBytesMax: 512 * 1024 ** 2 });
    for (const wrong of ["0", "3651", "7.5", "week"])
      expect(() => readConfig({ PINAKES_VECTOR_RETENTION_DAYS: wrong })).toThrow("from 1 to 3650");
    for (const wrong of ["15", "1048577"])
      expect(() => readConfig({ PINAKES_VECTOR_MEMORY_MB: wrong })).toThrow("from 16 to 1048576");
  });

  it("the time that the quarantine keeps repaired data is a setting, with limits", () => {
    expect(readConfig({ PINAKES_QUARANTINE_DAYS: "7" }).quarantineDays).toBe(7);
    for (const wrong of ["0", "3651", "7.5", "month"])
      expect(() => readConfig({ PINAKES_QUARANTINE_DAYS: wrong })).toThrow("from 1 to 3650");
  });

  it("reads the drop-boxes", () => {
    expect(readConfig({ PINAKES_DROP_BOXES: "acme:papers, globex, initech:kb/papers" }).dropBoxes).toEqual([
      { tenant: "acme", collection: "papers" },
      { tenant: "globex" },
      { tenant: "initech", collection: "kb/papers" },
    ]);
    expect(() => readConfig({ PINAKES_DROP_BOXES: "acme:papers:more" })).toThrow("tenant or tenant:collection");
  });

  it("reads models, issuers, quotas, pipelines' sources, origins and the log level", () => {
    const config = readConfig({
      PINAKES_ROOT_TOKEN: "t",
      PINAKES_MODELS: '[{"id":"m","provider":"local"}]',
      PINAKES_OIDC: '{"issuer":"https://i"}',
      PINAKES_QUOTAS: '{"fileBytesMax":1}',
      PINAKES_PIPELINE_FOLDERS: "/a, /b",
      PINAKES_PIPELINE_BUCKETS: "s3://x",
      PINAKES_PIPELINE_QUEUE: "https://q",
      PINAKES_ALLOWED_ORIGINS: "https://a.example, http://localhost:3000",
      PINAKES_PUBLIC_URL: "https://pinakes.example",
      PINAKES_REQUESTS_PER_SECOND: "50",
      PINAKES_LOG_LEVEL: "warn",
    });
    expect(config).toMatchObject({
      rootToken: "t",
      models: [{ id: "m", provider: "local" }],
      oidc: { issuer: "https://i" },
      quotas: { fileBytesMax: 1 },
      pipelineFolders: ["/a", "/b"],
      pipelineBuckets: ["s3://x"],
      pipelineQueue: "https://q",
      allowedOrigins: ["https://a.example", "http://localhost:3000"],
      publicUrl: "https://pinakes.example",
      requestsPerSecond: 50,
      logLevel: "warn",
    });
    expect(problem({ PINAKES_MODELS: "local" })).toContain("PINAKES_MODELS: is not JSON");
    expect(problem({ PINAKES_ALLOWED_ORIGINS: "https://a.example/path" })).toContain("must be origins such as");
    for (const wrong of ["https://pinakes.example/mcp", "pinakes.example", "ftp://pinakes.example"])
      expect(problem({ PINAKES_PUBLIC_URL: wrong })).toContain("must be an origin without a path");
    expect(problem({ PINAKES_REQUESTS_PER_SECOND: "0" })).toContain("a whole number from 1");
    expect(problem({ PINAKES_LOG_LEVEL: "loud" })).toContain("must be one of debug, info");
  });

  it("a server for the items requires an explicit location for the objects", () => {
    for (const PINAKES_ITEMS of ["postgres://h/n", "dynamodb://r/p"]) {
      const told = problem({ PINAKES_ITEMS, PINAKES_DATA: "/srv/x" });
      expect(told).toContain("PINAKES_OBJECTS: set the location of the objects");
      expect(told).toContain("s3://bucket/prefix");
      expect(told).toContain("file:/srv/x/objects");
      // An empty variable is an unset one.
      expect(problem({ PINAKES_ITEMS, PINAKES_OBJECTS: "" })).toContain("PINAKES_OBJECTS: set the location");
      expect(readConfig({ PINAKES_ITEMS, PINAKES_OBJECTS: "file:./here" }).stores.objects).toEqual({
        driver: "fs",
        dir: resolve("here"),
      });
    }
  });

  it("rejects what it does not understand and says what to write", () => {
    for (const PINAKES_PORT of ["x", "-1", "65536", "1e3", "80 80", "0x50"])
      expect(problem({ PINAKES_PORT })).toContain("PINAKES_PORT: a number from 0");
    for (const PINAKES_DATABASE of ["a/b", "../x", "a b", "-a", "x".repeat(61)])
      expect(problem({ PINAKES_DATABASE })).toContain("PINAKES_DATABASE: a name of 1–60");
    for (const PINAKES_ITEMS of ["./data", "mysql://h/n", "sqlite3:./x", ":", "data"])
      expect(problem({ PINAKES_ITEMS })).toMatch(/PINAKES_ITEMS: .* write sqlite:/);
    for (const PINAKES_ITEMS of [
      "dynamodb:",
      "dynamodb://",
      "dynamodb://r/a/b",
      "dynamodb://r/a?region=x",
      "dynamodb://r/a?endpoint=here",
    ])
      expect(problem({ PINAKES_ITEMS })).toContain("write dynamodb://region/prefix");
    expect(problem({ PINAKES_ITEMS: "postgres://[h" })).toContain("write postgres://");
    for (const PINAKES_OBJECTS of ["s3://", "s3://bucket?endpoint=nowhere", "s3://bucket?bucket=b"])
      expect(problem({ PINAKES_OBJECTS })).toContain("write s3://bucket/prefix");
    for (const PINAKES_QUEUE of [
      "sqs:",
      "sqs://",
      "sqs://r/a/b",
      "sqs://r?x=1",
      "sqs://r?endpoint=here",
      "redis://h",
      "item",
    ])
      expect(problem({ PINAKES_QUEUE })).toContain("write items, or sqs://region/prefix");
    expect(problem({ PINAKES_OBJECTS: "./objects" })).toContain("write file:./folder, s3://bucket/prefix or memory:");
  });

  it("suggests the nearest known setting for an unknown one, and ignores those of others", () => {
    expect(problem({ PINAKES_PROT: "1" })).toContain("PINAKES_PROT (did you mean PINAKES_PORT?)");
    expect(problem({ PINAKES_ITEM: "x" })).toContain("did you mean PINAKES_ITEMS?");
    expect(problem({ PINAKES_DATBASE: "x", PINAKES_HOSTS: "x" })).toMatch(/PINAKES_DATABASE\?.*PINAKES_HOST\?/);
    expect(readConfig({ PINAKESX: "1", NODE_ENV: "x" }).port).toBe(7430);
  });

  it("never shows a password", () => {
    const secret = "s3cr:e@t/x";
    const url = `postgres://me:${secret}@db.local/app`;
    expect(describeItems({ engine: "postgres", url })).toBe("postgres  postgres://me:…@db.local/app");
    expect(
      describeItems({ engine: "postgres", url: "postgres://db.local/app?password=hidden&sslmode=require" }),
    ).not.toContain("hidden");
    expect(problem({ PINAKES_ITEMS: `mysql://me:${secret}@db.local/app` })).not.toContain("s3cr");
    expect(problem({ PINAKES_ITEMS: `mysql://me:${secret}@db.local/app` })).not.toContain("e@t");
  });

  it("describes every store in a line", () => {
    expect(describeItems({ engine: "sqlite", dir: "/d" })).toBe("sqlite  /d");
    expect(describeItems({ engine: "dynamodb", region: "r", prefix: "p", endpoint: "http://x" })).toBe(
      "dynamodb  r/p at http://x",
    );
    expect(describeItems({ engine: "memory" })).toContain("memory");
    expect(describeObjects({ driver: "fs", dir: "/o" })).toBe("folder  /o");
    expect(describeObjects({ driver: "memory" })).toContain("memory");
  });
});
