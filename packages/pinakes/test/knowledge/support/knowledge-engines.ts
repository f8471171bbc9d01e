/**
 * The engines of deployments, each with its objects: SQLite with a folder, PostgreSQL and DynamoDB with a bucket. The servers are started
 * once per file; every open has its own database, tables and prefix.
 */
import { beforeAll } from "vitest";
import { startS3 } from "../../../src/drivers/s3/test-server.ts";
import type { OpenOptions } from "../../../src/open.ts";
import { useServers } from "../../support/servers.ts";
import { openTestPinakes, type TestPinakes } from "./test-pinakes.ts";
import { forAllTests } from "../../support/for-tests.ts";

export type OpenOn = (options?: OpenOptions) => Promise<TestPinakes>;

/** For `describe.each`. Two opens with the same `dir` are two processes over the same data. */
export function knowledgeEngines(): readonly (readonly [name: string, openOn: OpenOn])[] {
  const { postgres, dynamo } = useServers();
  let opened = 0;
  const s3 = forAllTests(() => startS3());
  beforeAll(async () => {
    await s3.bucket("knowledge");
  });
  const elsewhere =
    (items: (name: string) => string): OpenOn =>
    async (options) => {
      opened += 1;
      const name = `store${opened}`;
      const objects = `s3://knowledge/${name}?region=us-east-1&endpoint=${encodeURIComponent(s3.endpoint)}`;
      return openTestPinakes("elsewhere", { items: items(name), database: name, objects, ...options });
    };
  return [
    ["SQLite", (options) => openTestPinakes("sqlite", options)],
    ["PostgreSQL", elsewhere(postgres)],
    ["DynamoDB", elsewhere(dynamo)],
  ];
}
