import { expect, it } from "vitest";
import { identityOf, OpenCalls } from "./call-identity.ts";
import { recordable, recordableError, recordableObject, recordedBytesMax } from "./rows.ts";

it("what fits is kept whole, at the limit; one byte more is told, with its beginning", () => {
  const fits = "x".repeat(recordedBytesMax - 2);
  expect(recordable(fits)).toBe(fits);
  expect(recordable(`${fits}x`)).toMatchObject({ truncated: true, bytes: recordedBytesMax + 1 });
});

it("what is no JSON is made JSON or named", () => {
  const circle: { self?: object } = {};
  circle.self = circle;
  expect(recordable(circle)).toEqual({ unrecordable: "object" });
  expect(recordable({ n: 5n, at: new Date(0), nothing: undefined })).toEqual({
    n: "5",
    at: "1970-01-01T00:00:00.000Z",
  });
  expect([recordable(undefined), recordable(() => 1)]).toEqual([null, null]);
  expect([recordableObject([1]), recordableObject("a"), recordableObject(undefined)]).toEqual([
    { value: [1] },
    { value: "a" },
    {},
  ]);
  expect(recordableError("just text")).toEqual({ error_type: "Error", error_message: "just text", stack_trace: "" });
  expect(recordableError(new TypeError("x")).error_type).toBe("TypeError");
});

it("calls that never end do not pile up: at the limit all are known, one more forgets the oldest", () => {
  const calls = new OpenCalls(2);
  calls.begin("a", { session_id: "sa" });
  calls.begin("b", { sessionId: 7 });
  calls.begin("none", {});
  expect(identityOf(calls.facts({ callId: "a" }), {}).session_id).toBe("sa");
  calls.begin("c", { agentId: "x", workflow_id: "w" });
  expect(identityOf(calls.facts({ callId: "a" }), {})).toEqual({
    agent_id: "ai-sdk",
    session_id: "a",
    workflow_id: null,
    user_id: null,
  });
  expect(identityOf(calls.facts({ callId: "b", functionId: "f" }), {})).toMatchObject({
    agent_id: "f",
    session_id: "7",
  });
  expect(identityOf(calls.facts({ callId: "c", functionId: "f" }), { user_id: "u" })).toMatchObject({
    agent_id: "x",
    workflow_id: "w",
    user_id: "u",
  });
  calls.end("b");
  calls.end(undefined);
  expect(calls.facts({ callId: "b" }).context).toEqual({});
});
