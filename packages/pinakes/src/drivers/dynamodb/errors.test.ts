import { expect, it } from "vitest";
import { classify, wrapError, type Failure } from "./errors.ts";

const named = (name: string, more: object = {}) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: 400 }, ...more });
const cancelled = (...codes: string[]) =>
  named("TransactionCanceledException", { CancellationReasons: codes.map((Code) => ({ Code, Message: "said" })) });

it("errors of the SDK are classified by what they mean for a write", () => {
  const cases: [unknown, Failure][] = [
    [named("ConditionalCheckFailedException"), "condition"],
    [named("TransactionConflictException"), "contention"],
    [named("ThrottlingException"), "unavailable"],
    [named("ProvisionedThroughputExceededException"), "unavailable"],
    [named("InternalServerError", { $metadata: { httpStatusCode: 500 } }), "unknown"],
    [named("SomethingNew", { $metadata: { httpStatusCode: 503 } }), "unknown"],
    [named("TimeoutError", { $metadata: {} }), "unknown"],
    [named("Error", { code: "ECONNRESET", $metadata: {} }), "unknown"],
    [named("Error", { code: "ECONNREFUSED", $metadata: {} }), "unavailable"],
    [named("TransactionInProgressException"), "unknown"],
    [named("ValidationException"), "refused"],
    [named("AccessDeniedException"), "refused"],
    [cancelled("None", "ConditionalCheckFailed"), "condition"],
    [cancelled("TransactionConflict", "None"), "contention"],
    [cancelled("None", "ThrottlingError"), "unavailable"],
    [cancelled("TransactionConflict", "ConditionalCheckFailed"), "condition"],
    [cancelled("ValidationError", "ConditionalCheckFailed"), "refused"],
  ];
  for (const [error, failure] of cases)
    expect([(error as Error).name, classify(error)]).toEqual([(error as Error).name, failure]);
});

it("callers get few codes, with the cause and the service's message", () => {
  const cause = named("ThrottlingException");
  expect(wrapError(cause, "read")).toMatchObject({ code: "UNAVAILABLE", retryable: true, cause });
  expect(wrapError(named("AccessDeniedException"), "read")).toMatchObject({ code: "INTERNAL", retryable: false });
  expect(wrapError(cancelled("ValidationError"), "write").message).toContain("ValidationError: said");
  expect(
    wrapError(named("ValidationException", { message: "Item size has exceeded the maximum allowed size" }), "write")
      .code,
  ).toBe("LIMIT_EXCEEDED");
  const ours = wrapError(cause, "read");
  expect(wrapError(ours, "again")).toBe(ours);
});
