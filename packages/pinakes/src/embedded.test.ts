import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotFoundError, PinakesClientError } from "@pinakes/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbedded } from "./embedded.ts";

describe("openEmbedded", () => {
  let dir: string;
  beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), "pinakes-embedded-"))));
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("is the client of one workspace, with its existing data; other workspaces cannot access it", async () => {
    const first = await openEmbedded({ dir, workspace: "acme" });
    const { workflow_id, metadata } = await first.workflows.create({ type: "saga", name: "Kept", total_steps: 2 });
    expect(metadata.created_by).toBe("embedded");
    await first.close();
    await first.close();
    await using again = await openEmbedded({ dir, workspace: "acme", userId: "ada" });
    expect((await again.workflows.update(workflow_id, () => ({ current_step: 1 }))).current_step).toBe(1);
    const { pinakes } = again;
    const other = pinakes.state.as(pinakes.as({ tenant: "other", userId: "eve" }));
    await expect(other.workflows.get(workflow_id)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(again.workflows.get("none")).rejects.toThrow(NotFoundError);
  });

  it("an invalid workspace leaves nothing open", async () => {
    await expect(openEmbedded({ dir, workspace: "" })).rejects.toMatchObject({ code: "INVALID" });
    for (const wrong of [undefined, "a b"]) {
      const refused: unknown = await openEmbedded({ dir, workspace: wrong as string }).catch((error: unknown) => error);
      expect(PinakesClientError.isInstance(refused) && refused.detail).toContain(
        'workspace: must be a workspace id, such as { workspace: "acme" }',
      );
    }
    await using client = await openEmbedded({ dir, workspace: "acme" });
    expect((await client.workflows.stats()).total).toBe(0);
  });
});
