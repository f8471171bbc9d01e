import {
  isSessionHistoryRewriteAwareSession,
  isSessionHistoryTransactionAwareSession,
  UserError,
  type SessionHistoryTransaction,
} from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { PinakesSession } from "../src/index.ts";
import { openSessions, unreliable, user, users, ways } from "./support/sessions.ts";

const append = (count: number, name = "a"): SessionHistoryTransaction => ({
  type: "append_items",
  items: users(count, name),
});
const replace = (expected: readonly string[], replacement: readonly string[]): SessionHistoryTransaction => ({
  type: "replace_suffix",
  expectedSuffix: expected.map(user),
  replacement: replacement.map(user),
});

describe.each(ways)("transactions of a session on %s, %s", (engine, via) => {
  it("R-AGT-95 OpenAI Agents Session: the SDK sees both capabilities", async () => {
    await using sessions = await openSessions(engine, via);
    const session = sessions.session();
    expect([isSessionHistoryTransactionAwareSession(session), isSessionHistoryRewriteAwareSession(session)]).toEqual([
      true,
      true,
    ]);
  });

  it("R-AGT-95 idempotent history transactions: an operation is applied once, whoever repeats it, and its id means nothing else", async () => {
    await using sessions = await openSessions(engine, via);
    const session = sessions.session();
    await session.addItems([user("q")]);
    for (const own of [session, session, sessions.session()])
      await own.applyHistoryTransaction({ operationId: "op1", transaction: append(30) });
    expect(await session.getItems()).toEqual([user("q"), ...users(30, "a")]);
    for (const transaction of [append(29), append(31), append(30, "b"), replace(["a29"], ["x"])]) {
      await expect(session.applyHistoryTransaction({ operationId: "op1", transaction })).rejects.toThrow(UserError);
    }
    const change = { operationId: "op2", transaction: replace(["a28", "a29"], ["x", "y", "z"]) };
    await session.applyHistoryTransaction(change);
    await sessions.session().applyHistoryTransaction(change);
    expect(await session.getItems()).toEqual([user("q"), ...users(28, "a"), ...["x", "y", "z"].map(user)]);
    await session.popItem();
    await session.popItem();
    await session.applyHistoryTransaction(change);
    expect(await session.getItems(2)).toEqual([user("a27"), user("x")]);
    for (const operationId of ["", " "])
      await expect(session.applyHistoryTransaction({ operationId, transaction: append(1) })).rejects.toThrow(UserError);
    await session.clearSession();
    await session.applyHistoryTransaction(change).catch((error: unknown) => expect(error).toBeInstanceOf(UserError));
    await session.applyHistoryTransaction({ operationId: "op1", transaction: append(2) });
    expect(await session.getItems()).toEqual(users(2, "a"));
  });

  it("R-AGT-95 idempotent history transactions: a suffix that is not there fails and changes nothing", async () => {
    await using sessions = await openSessions(engine, via);
    const session = sessions.session();
    await session.addItems(users(3));
    for (const transaction of [
      replace(["m1"], ["x"]),
      replace(["m1", "m2", "m3"], ["x"]),
      replace(["no", "m0", "m1", "m2"], ["x"]),
    ]) {
      await expect(session.applyHistoryTransaction({ operationId: "op", transaction })).rejects.toThrow(
        /suffix no longer matches/,
      );
    }
    expect(await session.getItems()).toEqual(users(3));
    await session.applyHistoryTransaction({ operationId: "op", transaction: replace(["m2"], []) });
    expect(await session.getItems()).toEqual(users(2));
  });

  it("R-AGT-95 idempotent history transactions: of two that replace the same suffix one wins; the same one twice is one", async () => {
    await using sessions = await openSessions(engine, via);
    await sessions.session().addItems(users(3));
    const attempts = ["x", "y", "z", "x"].map(async (name, i) =>
      (await sessions.stranger())
        .applyHistoryTransaction({ operationId: `op-${name}`, transaction: replace(["m2"], [name, `${name}${name}`]) })
        .then(
          () => i,
          (error: unknown) => (expect(error).toBeInstanceOf(UserError), undefined),
        ),
    );
    const won = (await Promise.all(attempts)).filter((i) => i !== undefined);
    const name = ["x", "y", "z", "x"][won[0] ?? -1] ?? "";
    expect([["x", "x"], ["y"], ["z"]]).toContainEqual(won.map((i) => ["x", "y", "z", "x"][i]));
    expect(await sessions.session().getItems()).toEqual([...users(2), user(name), user(`${name}${name}`)]);
  });

  it("R-AGT-95 idempotent history transactions: items added meanwhile are not swept away", async () => {
    await using sessions = await openSessions(engine, via);
    await sessions.session().addItems(users(2));
    const outcomes = await Promise.allSettled([
      sessions.session().applyHistoryTransaction({ operationId: "op", transaction: replace(["m1"], ["x"]) }),
      sessions.session().addItems([user("new")]),
    ]);
    const texts = (await sessions.session().getItems()).map((item) => ("content" in item ? item.content : ""));
    expect(outcomes[1].status).toBe("fulfilled");
    // Either the change came first, or it found another suffix.
    expect(outcomes[0].status === "fulfilled" ? ["m0", "x", "new"] : ["m0", "m1", "new"]).toEqual(texts);
  });

  it("R-AGT-95 idempotent history transactions: repeated after a lost answer or an undelivered call they are applied once", async () => {
    await using sessions = await openSessions(engine, via);
    const replacement = Array.from({ length: 25 }, (_, i) => `r${i}`);
    for (const how of ["lost", "undelivered"] as const) {
      for (const broken of [1, 2, 3]) {
        const sessionId = `${how}-${broken}`;
        await sessions.session(sessionId).addItems(users(3));
        const none = new Set<number>();
        const threads = unreliable(
          sessions.api.threads,
          how === "lost" ? new Set([broken]) : none,
          how === "undelivered" ? new Set([broken]) : none,
        );
        const session = new PinakesSession({ api: { threads }, sessionId });
        const change = { operationId: "op", transaction: replace(["m1", "m2"], replacement) };
        await expect(session.applyHistoryTransaction(change)).rejects.toThrow(/network|answer/);
        const between = await sessions.session(sessionId).getItems();
        expect([3, 26]).toContain(between.length);
        await sessions.session(sessionId).applyHistoryTransaction(change);
        expect(await session.getItems(), sessionId).toEqual([user("m0"), ...replacement.map(user)]);
      }
    }
  });
});
