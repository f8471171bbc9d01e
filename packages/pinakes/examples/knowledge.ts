/** Documents in, cited passages out, all in one process: the local embedding model comes with the package. */
import { open } from "pinakes";

await using pinakes = await open({ dir: "./data/knowledge" });
const { knowledge } = pinakes;

// Who acts. A server gets this from an API key or a token; a program says it.
const admin = pinakes.as({ tenant: "acme", userId: "ada", role: "admin" });
const grace = pinakes.as({ tenant: "acme", userId: "grace", groups: ["engineering"] });

// A repository, and a collection in it that only engineers see.
if ((await knowledge.repositories.list(admin)).items.length === 0) {
  await knowledge.repositories.create(admin, { repository_id: "handbook", name: "Handbook" });
  await knowledge.collections.create(admin, "handbook", {
    collection_id: "runbooks",
    name: "Runbooks",
    allowed_groups: ["engineering"],
  });
}

// A document: any text, PDF, Word, Markdown, CSV, HTML, … as a text, bytes or a stream of them. The same name again takes its place, in one step.
const runbook = `# Failover

## When to do it

If the primary does not answer for 30 seconds, promote the replica in the other zone.

## Afterwards

Rebuild the old primary as a replica. Never start it as it is: it may hold writes that nobody else has.
`;
const { document_id } = await knowledge.documents.upload(grace, "handbook", "runbooks", {
  name: "failover.md",
  body: runbook,
  replace: true,
});

// It is parsed, cut, embedded and indexed in the background; a failure says why.
let document = await knowledge.documents.get(grace, "handbook", "runbooks", document_id);
while (document.status !== "indexed" && document.status !== "failed") {
  await new Promise((resolve) => setTimeout(resolve, 50));
  document = await knowledge.documents.get(grace, "handbook", "runbooks", document_id);
}
console.log(document.name, "is", document.status, document.error ?? "");

// Meaning and words in one ranking, over everything Grace may read. Each hit says where it stands.
const { hits } = await knowledge.search.run(grace, { query: "the main database is down, what now?", limit: 3 });
for (const { text: passage, score, citation } of hits) {
  console.log(
    `${score.toFixed(2)}  ${citation.filename}, ${citation.section ?? ""} [${citation.start}–${citation.end}]: ${passage.slice(0, 60)}…`,
  );
}

// A citation can be checked later, against the version that was cited.
console.log(
  await knowledge.search.verifyCitations(
    grace,
    hits.map(({ citation }) => citation),
  ),
);

// Somebody without the group finds nothing, and learns nothing.
const eve = pinakes.as({ tenant: "acme", userId: "eve" });
console.log("eve finds", (await knowledge.search.run(eve, { query: "primary" })).hits.length, "passages");
