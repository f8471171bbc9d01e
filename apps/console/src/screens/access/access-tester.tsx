/** The query is in the URL, so that a result can be shared. */
import type { AccessDecision } from "@pinakes/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import { accessOptions, type AccessQuestion } from "../../api/access.ts";
import { meOptions } from "../../api/identity.ts";
import { accessStrings } from "../../strings/access.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { ErrorBox, Loading } from "../../ui/states.tsx";
import { groupsOf } from "./groups-text.ts";
import { ResourceFields } from "./resource-fields.tsx";
import type { AccessSearch } from "./routes.ts";

const s = accessStrings.test;
const route = getRouteApi("/shell/access");

export function AccessTester({ isAdmin }: { readonly isAdmin: boolean }) {
  const search = route.useSearch();
  const question = questionOf(search, isAdmin);
  const myself = useQuery(meOptions).data?.user_id ?? "";
  const { data, error, isFetching, refetch } = useQuery(accessOptions(question));
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title={s.title}>
        <Form
          key={`${search.user ?? ""} ${search.groups?.join(",") ?? ""}`}
          isAdmin={isAdmin}
          asking={isFetching}
          onAgain={() => void refetch()}
        />
      </Panel>
      <Panel title={s.result}>
        {question === undefined ? (
          <p className="text-sm text-soft">{s.nothing}</p>
        ) : error !== null ? (
          <ErrorBox error={error} onRetry={() => void refetch()} />
        ) : data === undefined ? (
          <Loading />
        ) : (
          <AccessAnswer decision={data} user={question.user?.user_id ?? myself} />
        )}
      </Panel>
    </div>
  );
}

interface FormProps {
  readonly isAdmin: boolean;
  readonly asking: boolean;
  readonly onAgain: () => void;
}

function Form({ isAdmin, asking, onAgain }: FormProps) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [draft, setDraft] = useState({ ...search, groups: search.groups?.join(", ") ?? "" });
  const change = (next: Partial<typeof draft>) => setDraft((old) => ({ ...old, ...next }));
  const ask = () => {
    const { user, groups, repository, collection, document } = draft;
    const next: AccessSearch = {
      user: textOf(user),
      groups: listOf(groupsOf(groups)),
      repository,
      collection,
      document: textOf(document),
    };
    const same = JSON.stringify(next) === JSON.stringify({ ...search, tab: undefined });
    if (same) onAgain();
    void navigate({ search: (old) => ({ ...old, ...next }), replace: true });
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        ask();
      }}
    >
      <p className="text-sm text-soft">{s.about}</p>
      {isAdmin && (
        <>
          <TextField
            label={s.user}
            hint={s.userHint}
            value={draft.user ?? ""}
            spellCheck={false}
            autoComplete="off"
            onChange={({ target }) => change({ user: target.value })}
          />
          <TextField
            label={s.groups}
            hint={s.groupsHint}
            value={draft.groups}
            spellCheck={false}
            onChange={({ target }) => change({ groups: target.value })}
          />
          <p className="text-xs text-soft">{s.role}</p>
        </>
      )}
      <ResourceFields
        repository={draft.repository}
        collection={draft.collection}
        document={draft.document}
        onChange={change}
      />
      <Button type="submit" look="main" className="self-start" disabled={draft.repository === undefined || asking}>
        {s.ask}
      </Button>
    </form>
  );
}

/** Groups without a user are ignored. */
function questionOf(
  { user, groups = [], repository, collection, document }: AccessSearch,
  isAdmin: boolean,
): AccessQuestion | undefined {
  if (repository === undefined) return undefined;
  return {
    repository,
    ...(collection === undefined ? {} : { collection, document }),
    ...(user === undefined || !isAdmin ? {} : { user: { user_id: user, groups } }),
  };
}

function textOf(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" ? undefined : trimmed;
}

function listOf(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}

function AccessAnswer({ decision, user }: { readonly decision: AccessDecision; readonly user: string }) {
  const { level, reason, groups, document } = decision;
  const Icon = level === null ? CircleX : CircleCheck;
  return (
    <div role="status" className="flex flex-col gap-4">
      <div className="flex items-start gap-2">
        <Icon
          className={level === null ? "mt-0.5 size-5 shrink-0 text-bad" : "mt-0.5 size-5 shrink-0 text-good"}
          aria-hidden
        />
        <p className="min-w-0 flex-1 font-medium break-words">{s.verdicts[level ?? "none"](user)}</p>
        <Badge tone={level === null ? "bad" : "good"}>{level ?? s.no}</Badge>
      </div>
      <Facts
        of={[
          [s.rule, ruleOf(reason, user)],
          ...(level === null ? [] : [[s.opened, groups.length === 0 ? s.noGroups : groups.join(", ")] as const]),
          ...(document === undefined ? [] : [[s.document_, <DocumentWords key="document" of={document} />] as const]),
        ]}
      />
    </div>
  );
}

function DocumentWords({
  of: { status, uploaded_by, searchable, allowed_groups, allowed_users, sensitivity },
}: {
  readonly of: NonNullable<AccessDecision["document"]>;
}) {
  const whom = [...(allowed_groups ?? []), ...(allowed_users ?? [])];
  return (
    <>
      <p>{s.documentState(status, uploaded_by)}</p>
      <p>{allowed_groups === null && allowed_users === null ? s.documentAbout : s.documentNarrowed(whom.join(", "))}</p>
      {sensitivity.length > 0 && <p>{s.documentLabels(sensitivity.join(", "))}</p>}
      <p>{searchable ? s.searchable : s.notSearchable}</p>
    </>
  );
}

/** The server writes "the caller" for the evaluated user. User ids keep their case, also at the start of a sentence. */
function ruleOf(reason: string, user: string): string {
  const sentence = reason.startsWith(s.caller) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1);
  return `${sentence.replaceAll(s.caller, user)}.`;
}
