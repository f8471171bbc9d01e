import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import { overviewStrings } from "../../strings/overview.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import type { Alarm } from "./alarms.ts";

const s = overviewStrings.alarms;

interface Props {
  readonly alarms: readonly Alarm[];
  readonly loading: boolean;
  /** Whether the caller may read the alarms of the workspace, too. */
  readonly complete: boolean;
}

export function AlarmList({ alarms, loading, complete }: Props) {
  return (
    <Panel title={s.title}>
      {alarms.length === 0 ? (
        <p role="status" className="flex items-center gap-2 text-sm">
          {!loading && <CircleCheck className="size-4 text-good" aria-hidden />}
          {loading ? s.loading : complete ? s.nothing : s.partly}
        </p>
      ) : (
        <ul className="flex flex-col gap-2">
          {alarms.map((alarm) => (
            <Line key={alarm.key} alarm={alarm} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Line({ alarm: { tone, scope, text, link } }: { readonly alarm: Alarm }) {
  const Icon = tone === "bad" ? CircleAlert : TriangleAlert;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
      <Icon className={tone === "bad" ? "size-4 shrink-0 text-bad" : "size-4 shrink-0 text-warn"} aria-hidden />
      <span className="min-w-0 flex-1 basis-60 break-words">{text}</span>
      <Badge>{overviewStrings.scopes[scope]}</Badge>
      {link !== undefined && (
        <Link {...link} className={buttonClass("plain", "small")} aria-label={`${s.details}: ${text}`}>
          {s.details}
        </Link>
      )}
    </li>
  );
}
