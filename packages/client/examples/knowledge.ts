/**
 * Documents in, cited answers out, through a server: `PINAKES_KEY=$(cat data/root-token) npx node packages/client/examples/knowledge.ts`,
 * beside `npm start` in the same folder.
 */
import { connect } from "@pinakes/client";

const pinakes = connect({
  url: process.env["PINAKES_URL"] ?? "http://127.0.0.1:7430",
  key: process.env["PINAKES_KEY"],
});

await pinakes.collections.create({ repository: "me", collection_id: "notes", name: "Notes" });
// `wait`: resolves when the document can be searched, and rejects with the reason when it cannot be indexed.
await pinakes.documents.upload(
  "me/notes",
  { name: "travel.md", body: "# Travel\n\nAda prefers trains." },
  { wait: true },
);
const { hits } = await pinakes.search("how does Ada travel?", { in: "me/notes", limit: 3 });
for (const { text, citation } of hits) console.log(text, citation.filename, citation.start, citation.end);
const checks = await pinakes.verifyCitations(hits.map(({ citation }) => citation));
console.log(checks.map(({ result }) => result).join());
