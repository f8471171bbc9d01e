/** A background failure is logged in one line at the right level, with what failed, where and why, and no content. */
import { describe, expect, it } from "vitest";
import { newPlace, openTestPinakes, settled, upload } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

describe("a failing document", () => {
  const lines: { readonly line: string; readonly level: string | undefined; readonly fields: object | undefined }[] =
    [];
  const test = forAllTests(() =>
    openTestPinakes("sqlite", {
      log: (line, level, fields) => void lines.push({ line, level, fields }),
      logScope: () => {},
    }),
  );

  it("is one error with workspace, collection, document, attempt and reason", async () => {
    const place = await newPlace(test);
    const secret = "sk-canary-5f1c";
    const { document_id } = await upload(place, "broken.pdf", `%PDF-1.7 ${secret} is no PDF`);
    const document = await settled(place, document_id);
    expect(document).toMatchObject({ status: "failed" });
    const about = lines.filter(({ line }) => line.includes(document_id));
    expect(about).toHaveLength(1);
    const { repository: repository_id, collection: collection_id } = place;
    expect(about[0]).toMatchObject({
      level: "error",
      fields: { workspace: "acme", repository_id, collection_id, document_id, attempt: 1 },
    });
    expect(about[0]?.line).toContain(
      `acme/${repository_id}/${collection_id} failed (attempt 1): ${(document.error ?? "").slice(0, 20)}`,
    );
    expect(JSON.stringify(lines)).not.toContain(secret);
  });
});
