import { describe, expect, it } from "vitest";
import { inBatch, PinakesError, type ErrorCode } from "../domain/errors.ts";
import { ifMissing, isBatchConflict, isConflict, retryOnConflict, succeeds, tolerate } from "./expected-errors.ts";

const failing = (code: ErrorCode) => Promise.reject(new PinakesError(code, "as asked"));

describe("expected errors", () => {
  it("become results, and others are rethrown", async () => {
    expect(await tolerate(Promise.resolve(1), "CONFLICT")).toBe(1);
    expect(await tolerate(failing("CONFLICT"), "NOT_FOUND", "CONFLICT")).toBeUndefined();
    await expect(tolerate(failing("CORRUPT"), "NOT_FOUND", "CONFLICT")).rejects.toThrow("as asked");
    expect(await ifMissing(failing("NOT_FOUND"))).toBeUndefined();
    await expect(ifMissing(Promise.reject(new Error("no code")))).rejects.toThrow("no code");
    expect(await succeeds(Promise.resolve(), "CONFLICT")).toBe(true);
    expect(await succeeds(failing("CONFLICT"), "CONFLICT")).toBe(false);
    await expect(succeeds(failing("INVALID"), "CONFLICT")).rejects.toThrow("as asked");
  });

  it("are conflicts of one write or of a batch", () => {
    const lost = new PinakesError("PRECONDITION_FAILED", "changed");
    expect([isConflict(lost), isBatchConflict(lost), isBatchConflict(inBatch(lost, 0, 2))]).toEqual([
      true,
      false,
      true,
    ]);
    expect(isConflict(new PinakesError("UNAVAILABLE", "later"))).toBe(false);
  });
});

describe("retryOnConflict", () => {
  it("retries while it loses the race", async () => {
    const outcome = await retryOnConflict((number) => (number < 4 ? failing("CONFLICT") : Promise.resolve(number)), {
      pauseMsMax: 1,
    });
    expect(outcome).toBe(4);
  });

  it("stops at the limit, and at once for any other error", async () => {
    let calls = 0;
    const attempt = (code: ErrorCode) => () => {
      calls += 1;
      return failing(code);
    };
    await expect(retryOnConflict(attempt("CONFLICT"), { attemptsMax: 3 })).rejects.toThrow("as asked");
    expect(calls).toBe(3);
    await expect(retryOnConflict(attempt("INVALID"), { attemptsMax: 3 })).rejects.toThrow("as asked");
    await expect(retryOnConflict(attempt("CONFLICT"), { isConflict: () => false })).rejects.toThrow("as asked");
    expect(calls).toBe(5);
  });
});
