/** Searches this collection. The query is in the URL, so that results can be shared. */
import type { Hit } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import type { CollectionId } from "../../api/collections.ts";
import { hitName, search } from "../../api/search.ts";
import { collectionStrings } from "../../strings/collection.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { ShownName } from "../../ui/name.tsx";
import { Empty, ErrorBox, Loading } from "../../ui/states.tsx";
import { documentLink } from "../documents/links.ts";
import { fitsBadly } from "../search/fits.ts";
import { wordsOf } from "../search/found-words.ts";
import { MarkedText } from "../search/marked-text.tsx";
import { NoAnswer } from "../search/no-answer.tsx";
import { labSearch } from "./lab-search.ts";

const s = collectionStrings.ask;
const hitsMax = 5;

interface Props {
  readonly id: CollectionId;
  readonly asked: string | undefined;
  readonly onAsk: (query: string | undefined) => void;
}

export default function AskTab({ id, asked, onAsk }: Props) {
  const [typed, setTyped] = useState(asked ?? "");
  useEffect(() => setTyped(asked ?? ""), [asked]);
  const query = typed.trim();
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <form
        role="search"
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          onAsk(query === "" ? undefined : query);
        }}
      >
        <TextField
          type="search"
          label={s.label}
          className="min-w-56 flex-1"
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Button type="submit" look="main">
          <Search aria-hidden />
          {s.submit}
        </Button>
        <Link to="/search" search={labSearch(id, query === "" ? {} : { q: query })} className={buttonClass()}>
          {s.lab}
        </Link>
      </form>
      <p className="text-sm text-soft">{s.about}</p>
      {asked === undefined ? <Empty title={s.nothingYet} /> : <Answer id={id} query={asked} />}
    </div>
  );
}

function Answer({ id, query }: { readonly id: CollectionId; readonly query: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["search", id.rid, id.cid, query],
    queryFn: ({ signal }) =>
      search({ query, collections: [{ repository: id.rid, collection: id.cid }], limit: hitsMax }, signal),
  });
  if (error !== null) return <ErrorBox error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  if (data.hits.length === 0) return <NoAnswer answer={data} />;
  return (
    <>
      {fitsBadly(query, data.hits) && <p className="text-sm text-warn">{s.farOff}</p>}
      <ol aria-label={s.results} className="flex flex-col gap-3">
        {data.hits.map((hit) => (
          <Found key={`${hit.document_id}/${hit.chunk_id}`} hit={hit} query={query} />
        ))}
      </ol>
    </>
  );
}

function Found({ hit, query }: { readonly hit: Hit; readonly query: string }) {
  const { row_id, page, section, start, end } = hit.citation;
  const link = documentLink({
    rid: hit.repository_id,
    cid: hit.collection_id,
    did: hit.document_id,
    chunk: hit.chunk_id,
    start,
    end,
    q: query,
  });
  return (
    <li className="rounded-lg border bg-panel p-4">
      <p className="flex flex-wrap items-baseline gap-x-3 text-sm">
        {row_id === undefined ? (
          <Link {...link} className="min-w-0 font-medium break-words text-brand hover:underline">
            <ShownName of={hitName(hit)} />
          </Link>
        ) : (
          <span className="min-w-0 font-medium break-words">
            <ShownName of={hitName(hit)} />
          </span>
        )}
        {page !== undefined && <span className="text-xs text-soft">{s.page(page)}</span>}
        {section !== undefined && <span className="min-w-0 text-xs break-words text-soft">{section}</span>}
        <span className="ml-auto text-xs text-soft tabular-nums">{s.score(hit.score.toFixed(3))}</span>
      </p>
      <p className="mt-1 text-sm break-words whitespace-pre-line">
        <MarkedText text={hit.text} words={wordsOf(query)} />
      </p>
    </li>
  );
}
