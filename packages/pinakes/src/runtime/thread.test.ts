import { describe, expect, it } from "vitest";
import { PinakesError } from "../domain/errors.ts";
import { receiveError, sendError, type SentError } from "./sent-error.ts";
import { Thread, threadScript } from "./thread.ts";

type Answer = { readonly call: number; readonly value: unknown } | { readonly call: number; readonly error: SentError };

const script = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ call, text }) => {
      if (text === "crash") throw new Error("as asked");
      if (text === "end") process.exit(0);
      if (text === "silence") return;
      parentPort.postMessage({ call, value: text.toUpperCase() });
    });
  `)}`,
);

function start(): { readonly thread: Thread<Answer>; readonly ask: (text: string) => Promise<string> } {
  const thread: Thread<Answer> = new Thread(script, {
    name: "test",
    onMessage: (answer) =>
      "error" in answer
        ? thread.reject(answer.call, receiveError(answer.error))
        : thread.resolve(answer.call, answer.value),
    onExit: (cause) =>
      new PinakesError("UNAVAILABLE", `ended: ${cause instanceof Error ? cause.message : "on request"}`),
  });
  return { thread, ask: (text) => thread.call<string>((call) => ({ call, text })) };
}

describe("a thread", () => {
  it("answers each call", async () => {
    const { thread, ask } = start();
    expect(await Promise.all([ask("a"), ask("b")])).toEqual(["A", "B"]);
    expect(thread.waiting).toBe(0);
    await thread.terminate();
  });

  it.each([
    ["crash", "ended: as asked"],
    ["end", "ended: on request"],
  ])("open calls and all further ones fail when it ends by %s", async (how, detail) => {
    const { thread, ask } = start();
    const open = ask("silence").catch((error: unknown) => error);
    await expect(ask(how)).rejects.toThrow(detail);
    expect(await open).toMatchObject({ code: "UNAVAILABLE", detail });
    expect(() => thread.open()).toThrow(detail);
  });

  it("rejects what cannot be cloned, and continues", async () => {
    const { thread, ask } = start();
    await expect(thread.call(() => ({ notCloneable: () => 1 }))).rejects.toThrow("could not be cloned");
    expect(await ask("a")).toBe("A");
    await thread.terminate();
  });

  it("open calls fail with the error given to close", async () => {
    const { thread, ask } = start();
    const open = ask("silence");
    thread.refuseAll(new PinakesError("UNAVAILABLE", "closed"));
    await expect(open).rejects.toThrow("closed");
    await thread.terminate();
    expect(thread.ended?.detail).toBe("closed");
  });
});

it("a script is TypeScript here, JavaScript in the package", () => {
  expect(threadScript("file:///a/pool.ts", "b-thread").href).toBe("file:///a/b-thread.ts");
  expect(threadScript("file:///a/pool.js", "../b-thread").href).toBe("file:///b-thread.js");
});

it("errors keep their code across threads, and others get one", () => {
  const sent = sendError(new PinakesError("CORRUPT", "torn", { retryable: true }), () => ({ detail: "" }));
  expect(receiveError(structuredClone(sent))).toMatchObject({ code: "CORRUPT", detail: "torn", retryable: true });
  const other = sendError("odd", ({ message }) => ({ code: "UNAVAILABLE", detail: `It failed: ${message}` }));
  expect(other).toMatchObject({ code: "UNAVAILABLE", detail: "It failed: odd", retryable: true });
});
