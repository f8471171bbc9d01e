/** A workspace full of secrets: every name, text, tag, group and user of it holds the marker; every id of it is remembered. */
import { plantEntry } from "../../audit/support/plant-entry.ts";
import { randomBytes, createHash } from "node:crypto";
import { tenantScope } from "../../../src/domain/scope.ts";
import { until } from "../../support/until.ts";
import { openAiForm, type Target } from "./leak-calls.ts";
import type { Json, TestServer } from "./server.ts";

export const marker = `quokka${randomBytes(4).toString("hex")}`;
/** Known to everybody by its name. */
export const group = "inner circle";
const groups = [group, `group ${marker}`];

/** Open to the workspace: no secret there, but for what is in it. */
export const commons = "commons-2718";

export interface LeakWorld {
  readonly boss: string;
  readonly ann: string;
  /** In a repository of a group; in a private collection of an open repository; in one of a group there; in a user's own repository. */
  readonly targets: Readonly<Record<"groupRepository" | "privateCollection" | "groupCollection" | "personal", Target>>;
  /** Of the group's repository: one that is deleted, and one that is archived. */
  readonly putAway: readonly Target[];
  /** Ids, etags, hashes and links of the world: none may appear in an answer to who did not send it. */
  readonly ids: ReadonlySet<string>;
}

export async function buildLeakWorld(server: TestServer): Promise<LeakWorld> {
  const boss = await server.key("w1", `boss-${marker}`, { role: "admin", name: `key ${marker}` });
  const ann = await server.key("w1", `ann-${marker}`, { groups: [group] });
  const make = maker(server, boss);
  await make(boss, "/v1/repositories", { repository_id: "vault-3141", ...describe("Vault"), allowed_groups: groups });
  await make(await server.key("w1", "steward", { role: "admin" }), "/v1/repositories", {
    repository_id: commons,
    name: "Commons",
  });
  const own = await server.call("GET", "/v1/repositories/me", { key: ann });
  const personal = own.json["repository_id"] as string;
  const targets = {
    groupRepository: await fill(server, make, ann, "vault-3141", { collection_id: "plans-1618" }),
    privateCollection: await fill(server, make, ann, commons, { collection_id: "diary-4142", private: true }),
    groupCollection: await fill(server, make, ann, commons, { collection_id: "circle-5772", allowed_groups: groups }),
    personal: await fill(server, make, ann, personal, { collection_id: "catalog-6931" }),
  };
  // Deleted and archived ones are as secret as the others.
  const putAway = [
    await fill(server, make, ann, "vault-3141", { collection_id: "trashed-1732" }),
    await fill(server, make, ann, "vault-3141", { collection_id: "shelved-2236" }),
  ];
  await server.call("DELETE", "/v1/repositories/vault-3141/collections/trashed-1732", { key: ann });
  await server.call("POST", "/v1/repositories/vault-3141/collections/shelved-2236:archive", { key: ann });
  const ids = await collectIds(server, boss, [...Object.values(targets), ...putAway]);
  return { boss, ann, targets, putAway, ids };
}

type Make = (key: string, path: string, body: object) => Promise<Json>;

function maker(server: TestServer, boss: string): Make {
  return async (key, path, body) => {
    const { status, json, text } = await server.call("POST", path, { key: key === "" ? boss : key, body });
    if (status >= 300) throw new Error(`the world was not made: POST ${path}: ${text}`);
    return json;
  };
}

function describe(name: string): Json {
  return {
    name: `${name} ${marker}`,
    description: `What ${marker} hides`,
    metadata: { tags: [`tag ${marker}`], custom_fields: { secret: marker } },
  };
}

async function fill(server: TestServer, make: Make, key: string, rid: string, fields: Json): Promise<Target> {
  const admin = await server.key("w1", `plans-${marker}`, { role: "admin", name: `key ${marker}` });
  const cid = fields["collection_id"] as string;
  const at = `/v1/repositories/${rid}/collections/${cid}`;
  await make(key, `/v1/repositories/${rid}/collections`, { ...describe(`Plans ${cid}`), ...fields });
  const { documents } = (await make(key, `${at}/documents`, {
    name: `plans of ${marker}.txt`,
    text: `The plans of the vault are known to ${marker} and to nobody else.`,
    metadata: { owner: marker },
  })) as { documents: Json[] };
  const did = documents[0]?.["document_id"] as string;
  await server.settled(key, `${at}/documents/${did}`);
  await make(key, `${at}/vectors:upsert`, {
    items: [{ id: "own", vector: [1, 2, 3], text: `row of ${marker}`, metadata: { owner: marker } }],
  });
  await make(key, `${at}/triples`, [{ s: "a:plans", p: "a:of", o: { type: "literal", value: marker } }]);
  const grant = await make(key, `${at}/uploads`, { name: `granted ${marker}.txt` });
  const { job_id } = await make(key, `${at}:reindex`, {});
  await until(
    async () => (await server.call("GET", `/v1/jobs/${job_id as string}`, { key })).json["status"] === "succeeded",
  );
  await server.settled(key, `${at}/documents/${did}`);
  await make(key, `${at}:archive`, {});
  const { items } = (await server.call("GET", `/v1/operations?repository=${rid}&collection=${cid}`, { key })).json as {
    items: Json[];
  };
  const oid = items[0]?.["operation_id"] as string;
  await make(key, `${at}:unarchive`, {});
  const { evaluation_id } = await make(key, "/v1/evaluations", {
    name: `Questions ${marker}`,
    collections: [{ repository: rid, collection: cid }],
    queries: [{ query: `plans of ${marker}`, relevant: [{ document_id: did }] }],
  });
  const { job_id: run } = (await make(key, `/v1/evaluations/${evaluation_id as string}:run`, {})) as { job_id: string };
  await until(async () => (await server.call("GET", `/v1/jobs/${run}`, { key })).json["status"] === "succeeded");
  const { pipeline_id } = await make(key, `${at}/pipelines`, {
    trigger: "schedule",
    schedule: "0 0 1 1 *",
    source: `file:${server.dir}`,
  });
  const { key_id } = await make("", "/v1/keys", { user_id: `user-${marker}`, name: `key ${marker}` });
  const { migration_id: mid } = (await make("", "/v1/migrations", {
    source: { kind: "unregistered", repository: marker },
  })) as { migration_id: string };
  await until(
    async () => (await server.call("GET", `/v1/migrations/${mid}`, { key: admin })).json["state"] === "planned",
  );
  const token = (grant["url"] as string).split("/").at(-1) as string;
  const [jid, kid, eid, pid] = [job_id, key_id, evaluation_id, pipeline_id] as [string, string, string, string];
  const { incarnation } = (await server.call("GET", at, { key })).json as { incarnation: string };
  const { scope } = server.pinakes.as({ tenant: "w1", userId: "boss", role: "admin" });
  const qid = await plantEntry(
    server.pinakes.objects,
    scope,
    { repository_id: rid, collection_id: cid, incarnation },
    marker,
  );
  const openAi = await fillOpenAi(server, key, rid, cid);
  const { hold_id: hid } = (await make("", "/v1/legal-holds", {
    scope: { type: "collection", repository_id: rid, collection_id: cid },
    reason: `case ${marker}`,
  })) as { hold_id: string };
  const c = `box-${marker}-${cid}`;
  await server.call("PUT", `/v1/containers/${c}`, { key: admin, body: { partition_key: "/owner" } });
  const { erasure_id: xid } = (await make("", "/v1/erasures", {
    subject: { type: "documents", repository_id: rid, collection_id: cid, document_ids: [did] },
    dry_run: true,
  })) as { erasure_id: string };
  const { export_id } = (await make("", "/v1/subjects:export", {
    subject: { type: "documents", repository_id: rid, collection_id: cid, document_ids: [did] },
  })) as { export_id: string };
  const exported = `/v1/subject-exports/${export_id}`;
  await until(async () => (await server.call("GET", exported, { key: admin })).json["state"] === "ready");
  return {
    rid,
    cid,
    did,
    jid,
    kid,
    eid,
    pid,
    run,
    oid,
    mid,
    qid,
    xid,
    hid,
    c,
    export: export_id,
    part: "1",
    token,
    q: "documents",
    dead: `${did}.1`,
    ...openAi,
  };
}

/** The same collection as clients of the OpenAI API have it. */
async function fillOpenAi(server: TestServer, key: string, rid: string, cid: string) {
  const headers = { "openai-project": rid };
  const make = async (path: string, body: unknown): Promise<string> => {
    const { status, json, text } = await server.call("POST", `/openai/v1${path}`, { key, headers, body });
    if (status >= 300) throw new Error(`the world was not made: POST ${path}: ${text}`);
    return json["id"] as string;
  };
  const store = `vs_${cid}`;
  const file = await make("/files", openAiForm("file", { purpose: "assistants" }, `file of ${marker}`));
  await make(`/vector_stores/${store}/files`, { file_id: file, attributes: { owner: marker } });
  const batch = await make(`/vector_stores/${store}/file_batches`, { file_ids: [file] });
  const at = `/openai/v1/vector_stores/${store}/file_batches/${batch}`;
  await until(async () => (await server.call("GET", at, { key, headers })).json["status"] === "completed");
  const upload = await make("/uploads", {
    bytes: 1,
    filename: `${marker}.txt`,
    mime_type: "text/plain",
    purpose: "user_data",
  });
  const conversation = await make("/conversations", {
    metadata: { secret: marker },
    items: [{ role: "user", content: `words of ${marker}` }],
  });
  const items = await server.call("GET", `/openai/v1/conversations/${conversation}/items`, { key });
  const item = items.json["first_id"] as string;
  const response = await make("/responses", {
    input: `plans of ${marker}`,
    tools: [{ type: "file_search", vector_store_ids: [store] }],
  });
  return {
    store,
    file,
    batch,
    upload,
    conversation,
    item,
    response,
    model: "all-MiniLM-L6-v2",
    flow: "default",
    graph: "one",
    class: "vector",
  };
}

const idFields =
  /^(repository_id|collection_id|document_id|job_id|incarnation|etag|operation_id|chunk_id|sha256|key_id|evaluation_id|pipeline_id|created_by|uploaded_by|next_cursor)$/;

async function collectIds(server: TestServer, boss: string, targets: readonly Target[]): Promise<ReadonlySet<string>> {
  const ids = new Set<string>(targets.flatMap((target) => Object.values(target)));
  const paths = [
    "/v1/repositories",
    "/v1/collections?status=all",
    "/v1/jobs",
    "/v1/operations",
    "/v1/keys",
    "/v1/evaluations",
    "/v1/collections?limit=1",
  ];
  for (const { rid, cid, did } of targets) {
    const at = `/v1/repositories/${rid}/collections/${cid}`;
    paths.push(
      `/v1/repositories/${rid}`,
      at,
      `${at}/documents`,
      `${at}/documents/${did}`,
      `${at}/documents/${did}/chunks`,
      `${at}/documents/${did}/versions`,
    );
  }
  for (const path of paths) collect((await server.call("GET", path, { key: boss })).json, ids);
  // What every workspace has is nobody's secret, nor is the open repository with its default collection.
  const shared = [
    "/v1/info",
    `/v1/repositories/${commons}`,
    `/v1/repositories/${commons}/collections/all-MiniLM-L6-v2`,
  ];
  const known = (
    await Promise.all(shared.map(async (path) => (await server.call("GET", path, { key: boss })).text))
  ).join("\n");
  for (const id of ids)
    if (id.length < 6 || known.includes(id) || id === "documents" || id === "vector") ids.delete(id);
  return ids;
}

function collect(value: unknown, into: Set<string>): void {
  if (Array.isArray(value)) for (const one of value) collect(one, into);
  else if (typeof value === "object" && value !== null) {
    for (const [field, inner] of Object.entries(value)) {
      if (idFields.test(field) && typeof inner === "string") into.add(inner);
      else collect(inner, into);
    }
  }
}

/** Everything that the workspace holds: its records with their etags, its objects, its keys, the rows of its vectors, its triples. */
export async function stateOf(server: TestServer, { boss, targets }: LeakWorld): Promise<string> {
  const hash = createHash("sha256");
  const scope = tenantScope("w1");
  for (const container of ["collections", "documents", "jobs"]) {
    const records = new Map<string, unknown>();
    let cursor: string | undefined;
    for (;;) {
      const page = await server.pinakes.items.changes(scope, container, {
        limit: 100,
        ...(cursor === undefined ? { from: "oldest" } : { cursor }),
      });
      for (const { kind, partition, id, etag, document } of page.changes) {
        const place = JSON.stringify([partition, id]);
        records.delete(place);
        // The sweep fences again what lies in the trash, as it is: a new etag of a fence is no change of anybody's.
        if (kind === "put") records.set(place, id === "fence" ? { document } : { etag, document });
      }
      ({ cursor } = page);
      if (page.changes.length === 0) break;
    }
    hash.update(JSON.stringify([...records].toSorted(([a], [b]) => (a < b ? -1 : 1))));
  }
  hash.update((await server.call("GET", "/v1/evaluations", { key: boss })).text);
  for (const prefix of ["knowledge/", "evaluations/"])
    hash.update(JSON.stringify((await server.pinakes.objects.list(scope, prefix, { limit: 1000 })).keys));
  const { json } = await server.call("GET", "/v1/keys?limit=100", { key: boss });
  hash.update(JSON.stringify((json["items"] as Json[]).map((key) => ({ ...key, last_used_at: undefined }))));
  for (const { rid, cid } of Object.values(targets)) {
    const rows = await server.call("POST", `/v1/repositories/${rid}/collections/${cid}/vectors:query`, {
      key: boss,
      body: { vector: [1, 2, 3] },
    });
    hash.update(rows.text);
    hash.update((await server.call("GET", `/v1/repositories/${rid}/collections/${cid}/triples`, { key: boss })).text);
  }
  return hash.digest("hex");
}
