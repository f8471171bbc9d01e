import { describe, expect, it } from "vitest";
import { transferLimits } from "./limits.ts";
import { readSidecar, readSidecarBody, sidecarProblem, writeSidecar } from "./sidecar.ts";
import { fixture, golden } from "./test-transfer.ts";

const report = {
  user_id: "cognito-sub-xxx",
  catalog_id: "cat-abc123",
  document_id: "doc-def456",
  filename: "report.pdf",
};

describe("sidecars", () => {
  it("R-KB-37 are exactly those of the reference document", () => {
    expect(JSON.parse(writeSidecar(report))).toEqual(golden("kb-sidecar.metadata.json"));
    expect(readSidecar(fixture("kb-sidecar.metadata.json"))).toEqual(report);
  });

  it("R-KB-37 plain values are read, too", () => {
    expect(readSidecar(JSON.stringify({ metadataAttributes: { ...report, other: 7 } }))).toEqual(report);
    expect(readSidecar('{"metadataAttributes":{"filename":"a.md","user_id":null}}')).toEqual({ filename: "a.md" });
  });

  it.each([
    "",
    "[]",
    "{}",
    '{"metadataAttributes":{"filename":7}}',
    '{"metadataAttributes":{"filename":{"value":{"type":"NUMBER","numberValue":1}}}}',
  ])("refuses %j", (text) => {
    expect(() => readSidecar(text)).toThrow(expect.objectContaining({ code: "INVALID" }) as Error);
  });

  it("report their differences", () => {
    expect(sidecarProblem(report, report)).toBeUndefined();
    expect(sidecarProblem({}, report)).toBeUndefined();
    expect(sidecarProblem({ user_id: "eve" }, report)).toContain('user_id "eve"');
  });

  it("are read up to their limit and no further", async () => {
    async function* sized(bytes: number): AsyncGenerator<Uint8Array> {
      yield Buffer.from(writeSidecar(report).padEnd(bytes));
    }
    expect(await readSidecarBody(sized(transferLimits.sidecarBytesMax))).toEqual(report);
    await expect(readSidecarBody(sized(transferLimits.sidecarBytesMax + 1))).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
  });
});
