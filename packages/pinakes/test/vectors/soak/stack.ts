/** The stores of a soak: a folder with SQLite, or S3 with PostgreSQL. */
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../../src/drivers/postgres/test-server.ts";
import { startS3 } from "../../../src/drivers/s3/test-server.ts";
import type { StackPlace } from "./place.ts";

export type StackKind = "sqlite" | "postgres";

export interface Stack {
  readonly place: StackPlace;
  /** For the journals of the writers. */
  readonly journals: string;
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startStack(kind: StackKind): Promise<Stack> {
  const dir = mkdtempSync(join(tmpdir(), "pinakes-soak-"));
  const journals = join(dir, "journals");
  mkdirSync(journals);
  const remove = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  if (kind === "sqlite") return { place: { dir }, journals, env: {}, stop: async () => remove() };
  const [postgres, s3] = await Promise.all([startPostgres(), startS3()]);
  await s3.bucket("soak");
  return {
    place: {
      dir,
      items: postgres.url,
      objects: `s3://soak/p?region=us-east-1&endpoint=${encodeURIComponent(s3.endpoint)}`,
    },
    journals,
    env: { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" },
    stop: async () => {
      await Promise.all([postgres.stop(), s3.stop()]);
      remove();
    },
  };
}
