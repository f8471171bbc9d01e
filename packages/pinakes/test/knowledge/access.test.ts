/** Permissions: groups (inherited at every read), private collections, roles, and the stated reason. */
import { describe, expect, it } from "vitest";
import type { Caller } from "../../src/domain/caller.ts";
import { knowledgeEngines } from "./support/knowledge-engines.ts";
import { texts, upload, uploaded, type Place } from "./support/test-pinakes.ts";
import { forAllTests } from "../support/for-tests.ts";

const notFound = { code: "NOT_FOUND" };
const forbidden = { code: "FORBIDDEN" };

describe.each(knowledgeEngines())("access on %s", (_name, openOn) => {
  let made = 0;
  const test = forAllTests(() => openOn());

  async function repository(input: object = {}): Promise<string> {
    made += 1;
    return (await test.knowledge.repositories.create(test.admin, { repository_id: `access-${made}`, ...input }))
      .repository_id;
  }
  const sees = async (caller: Caller, repositoryId: string, collectionId: string): Promise<boolean> => {
    try {
      await test.knowledge.collections.get(caller, repositoryId, collectionId);
      return true;
    } catch (error) {
      expect(error).toMatchObject(notFound);
      return false;
    }
  };

  it("R-LISA-16 groups are inherited at every read: narrowing the repository narrows its collections at once, a collection's own list stays", async () => {
    const id = await repository();
    const inherits = await test.knowledge.collections.create(test.admin, id, { name: "Inherits" });
    const own = await test.knowledge.collections.create(test.admin, id, { name: "Own", allowed_groups: ["a"] });
    expect(inherits.allowed_groups).toBeNull();
    const [nobody, a, b] = [test.as("n"), test.as("ua", { groups: ["a"] }), test.as("ub", { groups: ["b"] })];
    const table = async () => ({
      inherits: [
        await sees(nobody, id, inherits.collection_id),
        await sees(a, id, inherits.collection_id),
        await sees(b, id, inherits.collection_id),
      ],
      own: [
        await sees(nobody, id, own.collection_id),
        await sees(a, id, own.collection_id),
        await sees(b, id, own.collection_id),
      ],
    });
    expect(await table()).toEqual({ inherits: [true, true, true], own: [false, true, false] });
    await test.knowledge.repositories.update(test.admin, id, { allowed_groups: ["b"] });
    expect(await table()).toEqual({ inherits: [false, false, true], own: [false, false, false] });
    expect((await test.knowledge.collections.get(b, id, inherits.collection_id)).effective_groups).toEqual(["b"]);
    await test.knowledge.repositories.update(test.admin, id, { allowed_groups: ["a", "b"] });
    expect(await table()).toEqual({ inherits: [false, true, true], own: [false, true, false] });
  });

  it("R-LISA-61 groups must be within the repository's, others are named; [] inherits; without repository groups, any are accepted", async () => {
    const id = await repository({ allowed_groups: ["a", "b"] });
    const outside = test.knowledge.collections.create(test.admin, id, {
      name: "Wide",
      allowed_groups: ["a", "x", "y"],
    });
    await expect(outside).rejects.toMatchObject({ code: "INVALID", detail: expect.stringMatching(/"x", "y"/) });
    const made_ = await test.knowledge.collections.create(test.admin, id, {
      name: "Narrow",
      allowed_groups: ["a", "a"],
    });
    expect(made_.allowed_groups).toEqual(["a"]);
    const wider = test.knowledge.collections.update(test.admin, id, made_.collection_id, { allowed_groups: ["x"] });
    await expect(wider).rejects.toMatchObject({ code: "INVALID" });
    expect(
      (await test.knowledge.collections.update(test.admin, id, made_.collection_id, { allowed_groups: [] }))
        .allowed_groups,
    ).toBeNull();
    expect(
      (
        await test.knowledge.collections.create(test.admin, await repository(), {
          name: "Any",
          allowed_groups: ["anything"],
        })
      ).allowed_groups,
    ).toEqual(["anything"]);
  });

  it("R-LISA-20 a private collection is visible only to its creator and admins: for others it does not exist, in any call", async () => {
    const id = await repository();
    const ann = test.as("ann");
    const { collection_id } = await test.knowledge.collections.create(ann, id, { name: "Diary", private: true });
    const place: Place = { knowledge: test.knowledge, caller: ann, repository: id, collection: collection_id };
    const { document_id } = await uploaded(place, "day.txt", "dear diary, the password is swordfish");
    const ben = test.as("ben");
    const missing = await test.knowledge.collections.get(ben, id, "missing").catch((error: Error) => error.message);
    const hidden = await test.knowledge.collections.get(ben, id, collection_id).catch((error: Error) => error.message);
    expect(hidden).toBe((missing as string).replace("missing", collection_id));
    const theirs = { ...place, caller: ben };
    await expect(texts(theirs, "swordfish")).rejects.toMatchObject(notFound);
    await expect(upload(theirs, "b.txt", "x")).rejects.toMatchObject(notFound);
    await expect(test.knowledge.documents.content(ben, id, collection_id, document_id)).rejects.toMatchObject(notFound);
    expect(
      (await test.knowledge.search.run(ben, { query: "swordfish password diary" })).hits.filter(
        (hit) => hit.collection_id === collection_id,
      ),
    ).toEqual([]);
    expect((await test.knowledge.collections.list(ben, { repositoryId: id })).items.map(({ name }) => name)).toEqual([
      "Default Collection",
    ]);
    expect(await texts(place, "swordfish")).toHaveLength(1);
    expect(await texts({ ...place, caller: test.admin }, "swordfish")).toHaveLength(1);
    await test.knowledge.collections.update(ann, id, collection_id, { private: false });
    expect(await texts(theirs, "swordfish")).toHaveLength(1);
  });

  it("R-LISA-36 users may create collections unless the repository forbids it; admins and repository admins always may", async () => {
    const id = await repository();
    expect((await test.knowledge.repositories.get(test.admin, id)).allow_user_collections).toBe(true);
    const user = test.as("maker");
    const keeper = test.as("keeper", { role: "repository_admin" });
    await test.knowledge.collections.create(user, id, { name: "By user" });
    await test.knowledge.repositories.update(test.admin, id, { allow_user_collections: false });
    await expect(test.knowledge.collections.create(user, id, { name: "Again" })).rejects.toMatchObject(forbidden);
    await test.knowledge.collections.create(keeper, id, { name: "By keeper" });
    await test.knowledge.collections.create(test.admin, id, { name: "By admin" });
    await expect(test.knowledge.repositories.create(user, { repository_id: "mine" })).rejects.toMatchObject(forbidden);
    await expect(test.knowledge.repositories.create(keeper, { repository_id: "mine" })).rejects.toMatchObject(
      forbidden,
    );
    for (const who of [user, keeper])
      await expect(test.knowledge.repositories.update(who, id, { allow_user_collections: true })).rejects.toMatchObject(
        forbidden,
      );
  });

  it("R-LISA-71 the decision names the level, the reason and the groups; each role may do exactly what it should", async () => {
    const id = await repository({ allowed_groups: ["g", "h"] });
    const ann = test.as("ann", { groups: ["g"] });
    const ben = test.as("ben", { groups: ["h", "other"] });
    const keeper = test.as("keeper", { role: "repository_admin", groups: ["h"] });
    const stranger = test.as("stranger", { role: "repository_admin", groups: ["other"] });
    const { collection_id } = await test.knowledge.collections.create(ann, id, { name: "Shared" });
    const explain = (caller: Caller) => test.knowledge.access.explain(caller, id, collection_id);
    expect(await explain(ann)).toEqual({ level: "ADMIN", reason: expect.stringContaining("created"), groups: ["g"] });
    expect(await explain(ben)).toEqual({ level: "WRITE", reason: expect.stringContaining("group"), groups: ["h"] });
    expect(await explain(keeper)).toEqual({
      level: "ADMIN",
      reason: expect.stringContaining("administers"),
      groups: ["h"],
    });
    expect(await explain(test.admin)).toMatchObject({ level: "ADMIN", reason: expect.stringContaining("admin") });
    await expect(explain(stranger)).rejects.toMatchObject(notFound);
    const update = (caller: Caller, patch: object) =>
      test.knowledge.collections.update(caller, id, collection_id, patch);
    await expect(update(ben, { description: "x" })).rejects.toMatchObject(forbidden);
    await expect(test.knowledge.collections.delete(ben, id, collection_id)).rejects.toMatchObject(forbidden);
    await update(keeper, { description: "kept" });
    await expect(update(keeper, { allowed_groups: ["h"] })).rejects.toMatchObject(forbidden);
    await update(ann, { allowed_groups: ["g"] });
    await expect(explain(ben)).rejects.toMatchObject(notFound);
    // The creator who left the group has lost the collection, too.
    await expect(explain(test.as("ann"))).rejects.toMatchObject(notFound);
  });

  it("R-LISA-71 with WRITE callers delete and replace their own documents, with ADMIN everyone's", async () => {
    const id = await repository();
    const [ann, ben, cy] = [test.as("ann"), test.as("ben"), test.as("cy")];
    const { collection_id } = await test.knowledge.collections.create(ann, id, { name: "Shared" });
    const at = (caller: Caller): Place => ({
      knowledge: test.knowledge,
      caller,
      repository: id,
      collection: collection_id,
    });
    const document = await uploaded(at(ben), "bens.txt", "by ben");
    await expect(test.knowledge.documents.delete(cy, id, collection_id, document.document_id)).rejects.toMatchObject(
      forbidden,
    );
    await expect(upload(at(cy), "BENS.txt", "by cy", { replace: true })).rejects.toMatchObject(forbidden);
    expect((await uploaded(at(ben), "bens.txt", "by ben again", { replace: true })).uploaded_by).toBe("ben");
    expect((await uploaded(at(ann), "bens.txt", "by ann", { replace: true })).uploaded_by).toBe("ann");
    await test.knowledge.documents.delete(ann, id, collection_id, document.document_id);
  });

  it("R-KB-03 a personal repository is found as me, only by its user and admins; its list has catalogs, not the user's documents", async () => {
    const ann = test.as("ann-personal");
    const { repository_id, personal } = await test.knowledge.repositories.get(ann, "me");
    expect(personal).toBe(true);
    const { collection_id } = await test.knowledge.collections.create(ann, "me", { name: "Catalog" });
    expect((await test.knowledge.collections.get(ann, repository_id, collection_id)).private).toBe(true);
    const ben = test.as("ben-personal");
    await expect(test.knowledge.repositories.get(ben, repository_id)).rejects.toMatchObject(notFound);
    await expect(test.knowledge.collections.get(ben, repository_id, collection_id)).rejects.toMatchObject(notFound);
    await expect(test.knowledge.collections.get(ben, "me", collection_id)).rejects.toMatchObject(notFound);
    await uploaded(
      { knowledge: test.knowledge, caller: ann, repository: "me", collection: collection_id },
      "a.txt",
      "a document is no catalog",
    );
    const listed = await test.knowledge.collections.list(ann, { repositoryId: "me" });
    expect(listed.items.map((one) => one.collection_id)).toEqual([collection_id]);
    const keeper = test.as("keeper", { role: "repository_admin" });
    await expect(test.knowledge.collections.get(keeper, repository_id, collection_id)).rejects.toMatchObject(notFound);
    expect((await test.knowledge.collections.get(test.admin, repository_id, collection_id)).created_by).toBe(
      "ann-personal",
    );
  });
});
