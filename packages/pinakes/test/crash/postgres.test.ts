import { describe, it } from "vitest";
import { openPostgresItems } from "../../src/drivers/postgres/index.ts";
import { startPostgres } from "../../src/drivers/postgres/test-server.ts";
import { verifyChains, writeUntil } from "./chains.ts";
import { forAllTests } from "../support/for-tests.ts";

const server = forAllTests(() => startPostgres());

describe("kill -9 on PostgreSQL", () => {
  it("R-AGT-55 R-LISA-57 no acknowledged write is missing and no batch is partial when the writing process is killed", async () => {
    const acknowledged = new Map<number, number>();
    for (const acks of [1, 40, 333]) {
      for (const [writer, n] of await writeUntil(["postgres", server.url, "crash"], acks, (child) =>
        child.kill("SIGKILL"),
      ))
        acknowledged.set(writer, n);
      await using store = await openPostgresItems({ url: server.url, database: "crash" });
      await verifyChains(store, acknowledged);
    }
  });
});
