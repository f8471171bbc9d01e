import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decryptToken, encryptToken, SealedTokens, SignedTokens } from "./tokens.ts";

const key = Buffer.alloc(32, 7);
const options = { charsMax: 500 };
const kinds = {
  signed: (own: Uint8Array = key) => new SignedTokens(own, options),
  sealed: (own: Uint8Array = key) => new SealedTokens(own, options),
  encrypted: (own: Uint8Array = key) => ({
    seal: (binding: string, payload: unknown) => encryptToken(own, binding, payload),
    open: (binding: string, token: string) => decryptToken(own, binding, token, options),
  }),
};

describe.each(Object.entries(kinds))("tokens that are %s", (_, make) => {
  it("open only with their own binding", () => {
    const token = make().seal("acme, notes", { after: "n7", at: [1, null] });
    expect(make().open("acme, notes", token)).toEqual({ payload: { after: "n7", at: [1, null] } });
    expect(make().open("acme, other", token)).toBeUndefined();
    expect(make(randomBytes(32)).open("acme, notes", token)).toBeUndefined();
  });

  it("are rejected when they were changed, cut, padded or are too long", () => {
    const token = make().seal("acme", "n7");
    for (let at = 0; at < token.length; at += 1) {
      const other = token[at] === "A" ? "B" : "A";
      expect(make().open("acme", token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined();
    }
    for (const wrong of ["", "AAAA", token.slice(0, -2), `${token}=`, `${token}\n`])
      expect(make().open("acme", wrong)).toBeUndefined();
    expect(make().open("acme", make().seal("acme", "x".repeat(500)))).toBeUndefined();
    expect(make().open("acme", undefined as never)).toBeUndefined();
  });
});

it("keep their wire format: clients keep cursors across an update", () => {
  expect(kinds.signed().seal("pinakes query cursor\0", { a: 1 })).toBe("IPVnhFTyz6C2oEmci97yjXsiYSI6MX0");
  expect(kinds.sealed().seal("cursor\0acme\0", { a: 1 })).toBe("TUPNLh8TPa-OROcjTJNb3Ianl7_fPFA");
});
