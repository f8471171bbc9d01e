import { describe, it } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { openSqliteItems } from "../../src/drivers/sqlite/index.ts";
import { verifyChains, writeUntil } from "./chains.ts";

const dir = temporaryFolder("crash");

describe("kill -9 on SQLite", () => {
  it("R-AGT-55 R-LISA-57 no acknowledged write is missing and no batch is partial, round after round on one file", async () => {
    const acknowledged = new Map<number, number>();
    for (const acks of [1, 40, 333, 1_000]) {
      for (const [writer, n] of await writeUntil(["sqlite", dir], acks, (child) => child.kill("SIGKILL")))
        acknowledged.set(writer, n);
      await using store = await openSqliteItems({ dir });
      await verifyChains(store, acknowledged);
    }
  });
});
