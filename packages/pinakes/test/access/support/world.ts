/**
 * Users × groups × documents, generated from a seed, and who sees what by the rules of RFC 0014: written again here, from its text, so that
 * it can be compared with every face.
 */
import type { DocumentAccess } from "@pinakes/client";
import type { Caller } from "../../../src/domain/caller.ts";
import { settled, type Place, type TestPinakes } from "../../knowledge/support/test-pinakes.ts";

export interface Person {
  readonly id: string;
  readonly groups: readonly string[];
  readonly role: Caller["role"];
}

export interface Paper {
  readonly name: string;
  readonly access: Partial<DocumentAccess>;
  readonly uploader: string;
  readonly document_id: string;
}

export interface World {
  readonly place: Place;
  readonly people: readonly Person[];
  papers: readonly Paper[];
  /** The event before the first paper. */
  readonly since: string;
  as(person: Person): Caller;
}

export const teams = ["red", "green", "blue"];
export const labels = ["pii", "legal"];

/** The rule, for somebody who may use the collection. */
export function isVisible({ id, groups, role }: Person, { access, uploader }: Paper): boolean {
  if (role !== "user" || id === uploader) return true;
  const { allowed_groups = null, allowed_users = null, sensitivity = [] } = access;
  for (const label of sensitivity) if (!groups.includes(`sensitivity:${label}`)) return false;
  if (allowed_groups === null && allowed_users === null) return true;
  return groups.some((group) => allowed_groups?.includes(group)) || (allowed_users ?? []).includes(id);
}

/** A generator of pseudo-random numbers that its seed decides (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function some<Value>(random: () => number, values: readonly Value[], share = 0.4): readonly Value[] {
  return values.filter(() => random() < share);
}

export function randomAccess(random: () => number, people: readonly Person[]): Partial<DocumentAccess> {
  const groups = random() < 0.6 ? some(random, teams) : [];
  const users = random() < 0.3 ? some(random, people, 0.2).map(({ id }) => id) : [];
  const sensitivity = random() < 0.3 ? some(random, labels, 0.5) : [];
  return {
    allowed_groups: groups.length === 0 ? null : groups,
    allowed_users: users.length === 0 ? null : users,
    sensitivity,
  };
}

export function newPeople(random: () => number, count: number): readonly Person[] {
  const users = Array.from({ length: count }, (_, i): Person => ({
    id: `user-${i}`,
    groups: ["staff", ...some(random, teams), ...some(random, labels, 0.3).map((label) => `sensitivity:${label}`)],
    role: "user",
  }));
  return [
    ...users,
    { id: "boss", groups: [], role: "admin" },
    { id: "keeper", groups: ["staff"], role: "repository_admin" },
  ];
}

/** What is in a paper: a fact of its own, and one that all of them state. */
export function contentOf(name: string): string {
  return `name,kind,place\nanimal of ${name},zebra,meadow ${name}\nthe herd,zebra,everywhere\n`;
}

export async function newWorld(
  test: Pick<TestPinakes, "knowledge" | "admin" | "as">,
  {
    seed,
    people: count = 6,
    papers: paperCount = 10,
  }: { readonly seed: number; readonly people?: number; readonly papers?: number },
): Promise<World> {
  const random = seeded(seed);
  const people = newPeople(random, count);
  const repository = `access-${seed}-${Math.random().toString(36).slice(2, 8)}`;
  await test.knowledge.repositories.create(test.admin, { repository_id: repository, allow_user_collections: true });
  const { collection_id } = await test.knowledge.collections.create(test.admin, repository, {
    name: "Papers",
    allowed_groups: ["staff", ...teams],
    graph: { extract: "structured", key: "name" },
  });
  const place: Place = { knowledge: test.knowledge, caller: test.admin, repository, collection: collection_id };
  const since = await test.knowledge.latestEventId(test.admin);
  const as = ({ id, groups, role }: Person): Caller => test.as(id, { groups, role });
  const papers: Paper[] = [];
  for (let i = 0; i < paperCount; i += 1) {
    const name = `paper-${i}.csv`;
    const access = randomAccess(random, people);
    const uploader = people[Math.floor(random() * count)] as Person;
    // Under a job, which others may see as far as they see its document.
    const { result } = await test.knowledge.documents.uploadMany(as(uploader), repository, collection_id, (take) =>
      take({ name, body: contentOf(name), ...access }),
    );
    papers.push({ name, access, uploader: uploader.id, document_id: result.document_id });
  }
  for (const { document_id } of papers) await settled(place, document_id);
  return { place, people, papers, since, as };
}
