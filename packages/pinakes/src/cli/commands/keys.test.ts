import { describe, expect, it } from "vitest";
import { UsageError } from "../terminal/command.ts";
import { cliFolder, failure } from "../terminal/test-terminal.ts";
import { keys } from "./keys.ts";

const { call, json } = cliFolder("keys");

describe("pinakes keys", () => {
  it("makes a key that is shown once, lists it without the secret, and revokes it", async () => {
    const made = await json<{ key: string; key_id: string }>(
      keys,
      "create",
      "--user",
      "ada",
      "--workspace",
      "acme",
      "--expires",
      "90d",
      "--read-only",
    );
    expect(made).toMatchObject({ user_id: "ada", workspace_id: "acme", role: "user", scopes: ["read"] });
    const listed = await call(keys, ["list", "--workspace", "acme", "--json"]);
    expect(JSON.parse(listed.out)).toMatchObject({ items: [{ key_id: made.key_id }] });
    expect(listed.out).not.toContain(made.key.slice(-43));
    expect((await failure(call(keys, ["revoke", made.key, "--workspace", "default"]))).message).toContain(
      "no key with this id",
    );
    expect(await json(keys, "revoke", made.key, "--workspace", "acme")).toEqual({ revoked: made.key_id });
    expect((await call(keys, ["list", "--workspace", "acme"])).out).toBe("There are no keys in workspace acme.\n");
    expect(await failure(call(keys, ["create"]))).toBeInstanceOf(UsageError);
    expect((await failure(call(keys, ["create", "--user", "a", "--expires", "soon"]))).message).toContain("90d");
  });
});
