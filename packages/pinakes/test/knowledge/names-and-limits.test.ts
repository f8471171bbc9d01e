/** Validation of names, ids, descriptions, tags and groups. Every limit at its edge and one past it. */
import { describe, expect, it } from "vitest";
import { engines, newPlace, openTestPinakes } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const invalid = { code: "INVALID" };

describe.each(engines)("names and limits on %s", (engine) => {
  const test = forAllTests(() => openTestPinakes(engine, { background: false }));
  const place = forAllTests(() => newPlace(test, "Taken"));

  const create = (input: object) => test.knowledge.collections.create(test.admin, place.repository, input);

  it("R-LISA-11 a name of 100 characters is accepted, one of 101 is refused, and with an id the name is optional", async () => {
    expect((await create({ name: "n".repeat(100) })).name).toHaveLength(100);
    await expect(create({ name: "n".repeat(101) })).rejects.toMatchObject({
      ...invalid,
      detail: expect.stringContaining("101 characters"),
    });
    expect((await create({ collection_id: "implicit" })).name).toBe("implicit");
    // Counted in characters, not UTF-16 units: 60 of these are 120 units, and the reason is not their number.
    await expect(create({ name: "😀".repeat(60) })).rejects.toMatchObject({
      detail: expect.stringContaining("letters, digits"),
    });
  });

  it.each(["", " ", "   ", "a\nb", "a\tb", "a.b", "Ünï", "naïve", "😀", "a/b", "a\u0000b", "a\u00a0b", "a​b", "x\r"])(
    "R-KB-07 the name %j is refused",
    async (name) => {
      await expect(create({ name })).rejects.toMatchObject(invalid);
    },
  );

  it.each([null, 7, {}, [], true])("R-KB-07 a name that is %j is refused", async (name) => {
    await expect(create({ name })).rejects.toMatchObject(invalid);
  });

  it("R-KB-07 letters, digits, spaces, - and _ are accepted, one character is enough, and a collection without name or id is refused", async () => {
    for (const name of ["A", "7", "a-b_c D 9"]) expect((await create({ name })).name).toBe(name);
    await expect(create({})).rejects.toMatchObject({ ...invalid, detail: expect.stringContaining("name") });
  });

  it("R-LISA-29 ids with #, slashes, only dots or too many characters are refused; 128 are accepted", async () => {
    for (const collection_id of ["a#b", "a/b", "a\\b", ".", "..", "", "a b", "ä", "x".repeat(129), "a\u0000"])
      await expect(create({ collection_id, name: "x" })).rejects.toMatchObject(invalid);
    expect((await create({ collection_id: "x".repeat(128) })).collection_id).toHaveLength(128);
    for (const repository_id of ["a#b", "a/b", "..", "me", "personal-1"])
      await expect(test.knowledge.repositories.create(test.admin, { repository_id })).rejects.toMatchObject(invalid);
  });

  it("R-LISA-65 R-KB-08 names are unique within a repository, ignoring case and surrounding spaces, and free in another", async () => {
    for (const name of ["taken", "TAKEN", "tAkEn", " Taken ", "Taken"])
      await expect(create({ name })).rejects.toMatchObject({ code: "CONFLICT" });
    const other = await newPlace(test, "Taken");
    expect((await test.knowledge.collections.get(test.admin, other.repository, other.collection)).name).toBe("Taken");
  });

  it("R-LISA-65 R-KB-08 of 50 concurrent creates of one name, in all spellings, one succeeds", async () => {
    const names = Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? "Race Name" : "rAcE nAmE"));
    const outcomes = await Promise.allSettled(names.map((name) => create({ name })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "CONFLICT" });
    expect(await test.knowledge.collections.count(test.admin, { repositoryId: place.repository, q: "race name" })).toBe(
      1,
    );
  });

  it("R-KB-08 a default name is the id, with a suffix if that is taken; a given name is never changed", async () => {
    expect(await create({ collection_id: "taken" })).toMatchObject({
      collection_id: "taken",
      name: expect.stringMatching(/^taken [0-9a-f]{8}$/),
    });
    const same = {
      code: "CONFLICT",
      detail: `A collection "taken" already exists in repository "${place.repository}".`,
      context: { reason: "collection_exists" },
    };
    await expect(create({ collection_id: "taken" })).rejects.toMatchObject(same);
    const named = `A collection named "tAken" already exists in repository "${place.repository}" (names are case-insensitive). Use another name, or rename the existing one.`;
    await expect(create({ collection_id: "tAken", name: "tAken" })).rejects.toMatchObject({
      code: "CONFLICT",
      detail: named,
    });
    const update = (id: string, name: string | null) =>
      test.knowledge.collections.update(test.admin, place.repository, id, { name });
    await create({ collection_id: "tAken", name: "Other letters" });
    await expect(update("tAken", "tAken")).rejects.toMatchObject({ code: "CONFLICT", detail: named });
    expect((await update("tAken", null)).name).toMatch(/^tAken [0-9a-f]{8}$/);
    // Within the maximum length, however long the id is; another incarnation of the id has another suffix.
    const [short, long] = ["m".repeat(91), "m".repeat(92)];
    for (const id of [short, long]) {
      await create({ collection_id: id });
      expect((await create({ collection_id: id.toUpperCase() })).name).toMatch(/^M{91} [0-9a-f]{8}$/);
    }
  });

  it("R-KB-08 of 20 concurrent creates of two ids that differ in case, two succeed, with two names", async () => {
    const ids = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? "Pair" : "pair"));
    const outcomes = await Promise.allSettled(ids.map((collection_id) => create({ collection_id })));
    const made = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(made.map(({ collection_id }) => collection_id).toSorted()).toEqual(["Pair", "pair"]);
    expect(made.filter(({ name, collection_id }) => name === collection_id)).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected")
        expect(outcome.reason).toMatchObject({
          code: "CONFLICT",
          detail: expect.stringMatching(/^A collection "[Pp]air" already exists/),
        });
  });

  it("R-KB-08 other users may use a name that one uses for a catalog", async () => {
    const one = test.as("ann");
    const two = test.as("ben");
    await test.knowledge.collections.create(one, "me", { name: "Docs" });
    await expect(test.knowledge.collections.create(one, "me", { name: "dOCS" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect((await test.knowledge.collections.create(two, "me", { name: "Docs" })).name).toBe("Docs");
  });

  it("R-LISA-65 renaming to a taken name is refused and changes nothing; another spelling of its own name is accepted", async () => {
    const { collection_id } = await create({ name: "Mine" });
    await expect(
      test.knowledge.collections.update(test.admin, place.repository, collection_id, { name: "TAKEN" }),
    ).rejects.toMatchObject({ code: "CONFLICT" });
    expect((await test.knowledge.collections.get(test.admin, place.repository, collection_id)).name).toBe("Mine");
    expect(
      (await test.knowledge.collections.update(test.admin, place.repository, collection_id, { name: "MINE" })).name,
    ).toBe("MINE");
  });

  it("R-KB-09 a description of 500 characters is accepted, 501 are refused, markup is refused and a < b is not", async () => {
    expect((await create({ name: "d1", description: "é".repeat(500) })).description).toHaveLength(500);
    await expect(create({ name: "d2", description: "d".repeat(501) })).rejects.toMatchObject(invalid);
    for (const description of ["<b>x</b>", "a <script>", "</p>", "<!-- x", "<?php", "x <IMG src=a>"])
      await expect(create({ name: "d3", description })).rejects.toMatchObject({
        ...invalid,
        detail: expect.stringContaining("plain text"),
      });
    for (const [i, description] of ["a < b", "1<2 and 3 > 2", "x <= y", "<3", "two\nlines"].entries())
      expect((await create({ name: `plain ${i}`, description })).description).toBe(description);
  });

  it("R-LISA-12 a description round-trips, and is optional", async () => {
    const { collection_id, description } = await create({ name: "no description" });
    expect(description).toBe("");
    await test.knowledge.collections.update(test.admin, place.repository, collection_id, {
      description: "Grüße, 世界 — “quoted”",
    });
    expect((await test.knowledge.collections.get(test.admin, place.repository, collection_id)).description).toBe(
      "Grüße, 世界 — “quoted”",
    );
  });

  it("R-LISA-46 R-LISA-66 50 tags are accepted, 51 refused; a tag has up to 50 characters, of those in names", async () => {
    const tags = Array.from({ length: 50 }, (_, i) => `tag-${i}`);
    expect((await create({ name: "t50", metadata: { tags } })).metadata.tags).toEqual(tags);
    await expect(create({ name: "t51", metadata: { tags: [...tags, "one more"] } })).rejects.toMatchObject(invalid);
    expect((await create({ name: "t1", metadata: { tags: ["t".repeat(50)] } })).metadata.tags[0]).toHaveLength(50);
    for (const tag of ["t".repeat(51), "", " ", "a.b", "a\nb", "ä", 7, null])
      await expect(create({ name: "bad", metadata: { tags: [tag] } })).rejects.toMatchObject(invalid);
  });

  it("R-LISA-47 custom fields of 10,240 bytes are accepted and of 10,241 refused, in bytes of UTF-8", async () => {
    const fields = (bytes: number) => ({ f: `é${"x".repeat(bytes - Buffer.byteLength('{"f":"é"}'))}` });
    expect(Buffer.byteLength(JSON.stringify(fields(10_240)))).toBe(10_240);
    expect((await create({ name: "c1", metadata: { custom_fields: fields(10_240) } })).metadata.custom_fields).toEqual(
      fields(10_240),
    );
    await expect(create({ name: "c2", metadata: { custom_fields: fields(10_241) } })).rejects.toMatchObject({
      ...invalid,
      detail: expect.stringContaining("10241"),
    });
  });

  it("R-LISA-63 tags are the repository's, then the collection's own, deduplicated and in order; own fields override; merged there are at most 50", async () => {
    const { repository_id } = await test.knowledge.repositories.create(test.admin, {
      repository_id: "merge",
      metadata: { tags: ["z", "a"], custom_fields: { from: "repository", kept: 1 } },
    });
    const own = { tags: ["m", "a", "b"], custom_fields: { from: "collection" } };
    const made = await test.knowledge.collections.create(test.admin, repository_id, { name: "Merged", metadata: own });
    expect(made.metadata).toEqual(own);
    expect(made.effective_metadata).toEqual({
      tags: ["z", "a", "m", "b"],
      custom_fields: { from: "collection", kept: 1 },
    });
    const tags = (count: number) => ({ tags: Array.from({ length: count }, (_, i) => `t${i}`) });
    const many = await test.knowledge.collections.create(test.admin, repository_id, {
      name: "Many",
      metadata: tags(48),
    });
    expect(many.effective_metadata.tags).toHaveLength(50);
    await expect(
      test.knowledge.collections.create(test.admin, repository_id, { name: "More", metadata: tags(49) }),
    ).rejects.toMatchObject(invalid);
    const grow = test.knowledge.repositories.update(test.admin, repository_id, {
      metadata: { tags: ["z", "a", "new"] },
    });
    await expect(grow).rejects.toMatchObject({ ...invalid, detail: expect.stringContaining("Many") });
    // A tag that the fullest collection already has makes no difference to it.
    const same = await test.knowledge.repositories.update(test.admin, repository_id, {
      metadata: { tags: ["z", "a", "t1"] },
    });
    expect(same.metadata.tags).toEqual(["z", "a", "t1"]);
  });

  it("R-LISA-26 a common record is well under 2 KB; one over 65,536 bytes is refused, naming its largest field", async () => {
    const { collection_id } = await create({
      name: "typical",
      description: "d".repeat(200),
      metadata: { tags: ["a", "b"], custom_fields: { team: "x" } },
    });
    const item = await test.pinakes.items.read(test.admin.scope, "collections", {
      partition: [place.repository],
      id: `collection:${collection_id}`,
    });
    expect(Buffer.byteLength(JSON.stringify(item?.document))).toBeLessThan(2_048);
    // Typical ones, as LISA counts them: 2 KB on average.
    const sizes = await Promise.all(
      Array.from({ length: 20 }, async (_unused, i) => {
        const made = await create({
          name: `typical ${i}`,
          description: "d".repeat(25 * i),
          metadata: { tags: Array.from({ length: i }, (__, n) => `tag ${n}`) },
        });
        const stored = await test.pinakes.items.read(test.admin.scope, "collections", {
          partition: [place.repository],
          id: `collection:${made.collection_id}`,
        });
        return Buffer.byteLength(JSON.stringify(stored?.document));
      }),
    );
    expect(sizes.reduce((total, size) => total + size, 0) / sizes.length).toBeLessThan(2_048);
    // To the byte: as many as fit, and one more.
    const groups = (bytes: number) =>
      Array.from({ length: 100 }, (_, i) => {
        const left = Math.floor(bytes / 100) + (i === 0 ? bytes % 100 : 0) - 3;
        return `${String(i).padStart(3, "0")}${"界".repeat(Math.floor(left / 3))}${"x".repeat(left % 3)}`;
      });
    const told = await create({ name: "huge", allowed_groups: groups(70_000) }).catch(
      (error: { code: string; detail: string }) => error,
    );
    expect(told).toMatchObject({
      code: "LIMIT_EXCEEDED",
      detail: expect.stringContaining('"allowed_groups"') as string,
    });
    const fits = 70_000 - (Number(/would have (\d+) bytes/.exec((told as { detail: string }).detail)?.[1]) - 65_536);
    await expect(create({ name: "huge", allowed_groups: groups(fits + 1) })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
    });
    expect(await create({ name: "huge", allowed_groups: groups(fits) })).toMatchObject({ name: "huge" });
  });

  it("R-KB-39 the 101st catalog of a user is refused, also in a race, and deleting one frees one", async () => {
    const user = test.as("collector");
    const make = (i: number) => test.knowledge.collections.create(user, "me", { name: `c ${i}` });
    for (let i = 0; i < 95; i += 1) await make(i);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => make(100 + i)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect(await test.knowledge.collections.count(user, { repositoryId: "me" })).toBe(100);
    await expect(make(200)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    const { items } = await test.knowledge.collections.list(user, { repositoryId: "me", limit: 1 });
    await test.knowledge.collections.delete(user, "me", items[0]?.collection_id as string);
    await make(201);
    await expect(make(202)).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    expect((await test.knowledge.collections.create(test.as("other"), "me", { name: "mine" })).name).toBe("mine");
  });

  it("pages have 1 to 100 entries; 0, 101, fractions and strings are refused", async () => {
    for (const limit of [0, -1, 101, 1.5, "5", null]) {
      await expect(test.knowledge.collections.list(test.admin, { limit: limit as number })).rejects.toMatchObject(
        invalid,
      );
      await expect(test.knowledge.repositories.list(test.admin, { limit: limit as number })).rejects.toMatchObject(
        invalid,
      );
      await expect(
        test.knowledge.documents.list(test.admin, place.repository, place.collection, { limit: limit as number }),
      ).rejects.toMatchObject(invalid);
    }
    expect((await test.knowledge.collections.list(test.admin, { limit: 100 })).items).toHaveLength(100);
  });
});
