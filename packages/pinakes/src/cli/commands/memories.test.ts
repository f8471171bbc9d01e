import { beforeAll, describe, expect, it } from "vitest";
import { open } from "../../open.ts";
import { UsageError } from "../terminal/command.ts";
import { memories } from "./memories.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { cliFolder, failure } from "../terminal/test-terminal.ts";

// Many openings of the stores in one test: a busy machine takes its time.
const { env, ...folder } = cliFolder("cli-memories");
const call = (args: readonly string[], terminal: Partial<Terminal> = {}) => folder.call(memories, args, terminal);
const json = <T = unknown>(...args: string[]): Promise<T> => folder.json<T>(memories, ...args);
const refused = (...args: string[]) => failure(call(args));

beforeAll(async () => {
  await using pinakes = await open({ dir: env.PINAKES_DATA, background: false });
  const { memories: feature } = pinakes.state.as(pinakes.as({ tenant: "default", userId: "ada", role: "user" }));
  await feature.appendMany("agent-1", [
    { session_id: "s-1", message_type: "system", content: "You are an accountant.", token_count: 5 },
    {
      session_id: "s-1",
      message_type: "user",
      content: "Which invoice was wrong?\n- not 17\n\n- not 18\u001B[2J",
      token_count: 10,
    },
    { session_id: "s-1", message_type: "assistant", content: "Invoice 19 was wrong.", token_count: 6 },
  ]);
  await feature.append({
    agent_id: "agent-1",
    session_id: "s-2",
    message_type: "user",
    content: "Herons stand in shallow water.",
    token_count: 7,
  });
});

describe("pinakes memories", () => {
  it("lists the sessions of an agent", async () => {
    expect(await json("sessions", "agent-1")).toMatchObject({
      items: [{ session_id: "s-1", message_count: 3 }, { session_id: "s-2" }],
      next_cursor: null,
    });
    expect((await call(["sessions", "agent-1", "--limit", "1"])).out).toMatch(
      /^session +messages +first +last\ns-1 +3 [^]*for more: --limit 10/,
    );
    expect((await call(["sessions", "nobody"])).out).toContain("Agent nobody has no sessions in workspace default ");
    expect((await call(["sessions", "agent-1", "--workspace", "other"])).out).toContain(
      "Agent agent-1 has no sessions in workspace other ",
    );
    expect(await refused("sessions")).toBeInstanceOf(UsageError);
  });

  it("shows a session with its messages, line by line, in the width of the terminal", async () => {
    expect(await json("show", "agent-1", "s-1")).toMatchObject({
      session: { message_count: 3, token_count: 21 },
      items: [{ message_type: "system" }, {}, {}],
    });
    const { out } = await call(["show", "agent-1", "s-1"], { columns: 50 });
    expect(out).toContain("\n  Which invoice was wrong?\n  - not 17\n\n  - not 18");
    expect(out).not.toContain("\u001B");
    expect(out.split("\n").every((line) => line.length <= 50)).toBe(true);
    expect(await json("show", "agent-1", "s-1", "--type", "user")).toMatchObject({ items: [{ message_type: "user" }] });
    expect(await json("show", "agent-1", "s-1", "--order", "desc", "--limit", "1")).toMatchObject({
      items: [{ message_type: "assistant" }],
    });
    expect((await refused("show", "agent-1", "none")).code).toBe("NOT_FOUND");
    expect(await refused("show", "agent-1", "s-1", "--type", "human")).toBeInstanceOf(UsageError);
  });

  it("gives the context that fits, and knows an empty one from a session that is not there", async () => {
    expect(await json("context", "agent-1", "s-1", "--tokens", "12")).toMatchObject({
      messages: [{ message_type: "system" }, { message_type: "assistant" }],
      token_count: 11,
      omitted: 1,
    });
    expect((await call(["context", "agent-1", "s-1", "--tokens", "12"])).out).toContain(
      "2 messages, 11 of 12 tokens; 1 message omitted.",
    );
    expect(await json("context", "agent-1", "s-1", "--tokens", "100000000", "--strategy", "relevance")).toMatchObject({
      omitted: 0,
    });
    expect((await call(["context", "agent-1", "s-1", "--tokens", "1"])).out).toBe(
      "0 messages, 0 of 1 token; 3 messages omitted.\n",
    );
    expect((await refused("context", "agent-1", "none", "--tokens", "12")).code).toBe("NOT_FOUND");
    expect((await refused("context", "agent-1", "s-1")).message).toContain("--tokens N");
    for (const tokens of ["0", "100000001"])
      expect(await refused("context", "agent-1", "s-1", "--tokens", tokens)).toBeInstanceOf(UsageError);
    expect(await refused("context", "agent-1", "s-1", "--tokens", "9", "--strategy", "best")).toBeInstanceOf(
      UsageError,
    );
  });

  it("finds messages by their words, of one agent or session", async () => {
    expect(
      await json("search", "wrong", "invoice", "--mode", "keyword", "--agent", "agent-1", "--limit", "1"),
    ).toMatchObject({
      hits: [{ memory: { session_id: "s-1" } }],
      mode_used: "keyword",
    });
    const { out } = await call(["search", "herons", "--mode", "keyword"], { color: true });
    expect(out).toContain("agent-1 s-2");
    expect(out).toContain("\u001B[33mHerons\u001B[39m");
    expect((await call(["search", "herons", "--mode", "keyword", "--session", "s-1"])).out).toBe(
      "Nothing was found (keyword).\n",
    );
    expect(await refused("search", "x", "--mode", "vector")).toBeInstanceOf(UsageError);
    expect(await refused("search", "x", "--limit", "101")).toBeInstanceOf(UsageError);
    expect((await call(["search", "x", "--mode", "keyword", "--limit", "100"])).code).toBe(0);
    expect(await refused("search")).toBeInstanceOf(UsageError);
  });

  it("deletes a session only when told so twice", async () => {
    expect((await refused("delete", "agent-1", "s-2")).message).toContain(
      "Session s-2 of agent agent-1 with 1 message will be permanently removed",
    );
    expect((await failure(call(["delete", "agent-1", "s-2"], { ask: async () => "y" }))).message).toContain(
      "nothing was changed",
    );
    expect(await json("delete", "agent-1", "s-2", "--confirm")).toEqual({ deleted: 1 });
    expect((await refused("delete", "agent-1", "s-2", "--confirm")).code).toBe("NOT_FOUND");
  });
});
