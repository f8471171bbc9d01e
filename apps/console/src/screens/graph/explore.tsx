import { useQueries } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowLeft, X } from "lucide-react";
import type { CollectionId } from "../../api/collections.ts";
import type { TriplePattern } from "../../api/graph.ts";
import { cx } from "../../lib/class-names.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import { lazyPart } from "../../ui/lazy-part.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { type Around, aroundOptions } from "./around.ts";
import { EntityDetail } from "./entity-detail.tsx";
import { EntityList } from "./entity-list.tsx";
import { expandedMax } from "./graph-state.ts";
import { nodesMax, type Picture, pictureOf } from "./picture.ts";

const s = graphStrings.explore;
const route = getRouteApi("/shell/graph");
const Drawn = lazyPart(async () => (await import("./cytoscape-picture.tsx")).default);

export function Explore({ id }: { readonly id: CollectionId }) {
  const { focus, find } = route.useSearch();
  const navigate = route.useNavigate();
  const go = useGo();
  if (focus !== undefined) return <Looking id={id} focus={focus} />;
  return (
    <EntityList
      id={id}
      find={find}
      onFind={(words) => void navigate({ search: (old) => ({ ...old, find: words }) })}
      onChoose={go}
    />
  );
}

function Looking({ id, focus }: { readonly id: CollectionId; readonly focus: string }) {
  const { open = [] } = route.useSearch();
  const navigate = route.useNavigate();
  const go = useGo();
  const terms = open.includes(focus) ? open : [...open, focus].slice(-expandedMax);
  const asked = useQueries({ queries: terms.map((term) => aroundOptions(id, term)) });
  const known = asked.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const own = asked[terms.indexOf(focus)];
  const close = (term: string) => {
    const left = terms.filter((one) => one !== term);
    void navigate({ search: (old) => ({ ...old, open: left.length === 0 ? undefined : left, focus: left.at(-1) }) });
  };
  const seeAll = (pattern: TriplePattern) =>
    void navigate({
      search: (old) => ({ ...old, tab: "pattern", s: pattern.s, p: undefined, o: pattern.o, g: undefined }),
    });
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Button
        look="quiet"
        className="self-start"
        onClick={() => void navigate({ search: (old) => ({ ...old, focus: undefined, open: undefined }) })}
      >
        <ArrowLeft aria-hidden />
        {s.all}
      </Button>
      <div className="grid min-w-0 grid-cols-1 gap-4 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Drawing around={known} focus={focus} onChoose={go} onClose={terms.length > 1 ? close : undefined} />
        {own === undefined || own.error !== null ? (
          <ErrorBox error={own?.error} onRetry={() => void own?.refetch()} />
        ) : own.data === undefined ? (
          <Loading />
        ) : (
          <EntityDetail
            around={own.data}
            onChoose={go}
            onSeeAll={seeAll}
            onSources={(triple) => void navigate({ search: (old) => ({ ...old, triple }) })}
          />
        )}
      </div>
    </div>
  );
}

interface DrawingProps {
  readonly around: readonly Around[];
  readonly focus: string;
  readonly onChoose: (term: string) => void;
  readonly onClose: ((term: string) => void) | undefined;
}

function Drawing({ around, focus, onChoose, onClose }: DrawingProps) {
  const picture = pictureOf(around);
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <Drawn picture={picture} focus={focus} onChoose={onChoose} />
      <Notes picture={picture} open={around.length} />
      <PictureNodes picture={picture} focus={focus} onChoose={onChoose} onClose={onClose} />
    </div>
  );
}

function Notes({ picture: { nodesAll }, open }: { readonly picture: Picture; readonly open: number }) {
  return (
    <div role="status" className="flex flex-col gap-1 text-xs text-soft empty:hidden">
      {nodesAll > nodesMax && <p>{s.limited(nodesMax, nodesAll)}</p>}
      {open >= expandedMax && <p>{s.expandedFull(expandedMax)}</p>}
    </div>
  );
}

/** Selects an entity, and adds its neighbours to the expanded ones. */
function useGo(): (term: string) => void {
  const navigate = route.useNavigate();
  return (term) =>
    void navigate({
      search: ({ open = [], focus, ...old }) => {
        const before = [...new Set([...open, ...(focus === undefined ? [] : [focus])])].filter((one) => one !== term);
        return { ...old, focus: term, open: [...before, term].slice(-expandedMax) };
      },
    });
}

interface PictureNodesProps {
  readonly picture: Picture;
  readonly focus: string;
  readonly onChoose: (term: string) => void;
  readonly onClose: ((term: string) => void) | undefined;
}

function PictureNodes({ picture: { nodes }, focus, onChoose, onClose }: PictureNodesProps) {
  return (
    <details className="rounded-lg border bg-panel p-3 text-sm">
      <summary className="w-fit cursor-pointer rounded font-medium">{s.inPicture(nodes.length)}</summary>
      <ul className="mt-2 flex max-h-60 flex-wrap gap-1.5 overflow-auto p-1">
        {nodes.map(({ id, label, open }) => (
          <li key={id} className="flex max-w-full min-w-0 items-center">
            <button
              type="button"
              title={id}
              aria-current={id === focus}
              className={cx(
                "max-w-64 truncate rounded bg-raised px-2 py-1 text-xs hover:text-brand",
                open && "bg-brand-soft text-brand",
                id === focus && "font-semibold",
              )}
              onClick={() => onChoose(id)}
            >
              {label}
            </button>
            {open && onClose !== undefined && (
              <Button
                look="quiet"
                size="small"
                className="px-1"
                aria-label={`${s.close}: ${label}`}
                onClick={() => onClose(id)}
              >
                <X aria-hidden />
              </Button>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
