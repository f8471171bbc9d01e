import type { AccessDecision } from "@pinakes/client";
import { CircleCheck, CircleX } from "lucide-react";
import { accessStrings } from "../../strings/access.ts";
import { Badge } from "../../ui/badge.tsx";
import { Facts } from "../../ui/panel.tsx";

const s = accessStrings.test;

export function AccessAnswer({ decision, user }: { readonly decision: AccessDecision; readonly user: string }) {
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
  of: { status, uploaded_by, searchable },
}: {
  readonly of: NonNullable<AccessDecision["document"]>;
}) {
  return (
    <>
      <p>{s.documentState(status, uploaded_by)}</p>
      <p>{s.documentAbout}</p>
      <p>{searchable ? s.searchable : s.notSearchable}</p>
    </>
  );
}

/** The server writes "the caller" for the evaluated user. User ids keep their case, also at the start of a sentence. */
function ruleOf(reason: string, user: string): string {
  const sentence = reason.startsWith(s.caller) ? reason : reason.charAt(0).toUpperCase() + reason.slice(1);
  return `${sentence.replaceAll(s.caller, user)}.`;
}
