import { getRouteApi } from "@tanstack/react-router";
import { Download, RefreshCw } from "lucide-react";
import { exportAddress, type ToolQuery } from "../../api/tool-log.ts";
import { toolStrings as s } from "../../strings/tools.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Page } from "../../ui/panel.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useTimeRange } from "../metrics/range.ts";
import { CallSheet } from "./call-sheet.tsx";
import { CallTable } from "./call-table.tsx";
import { ChainProof } from "./chain-proof.tsx";
import { ToolFigures } from "./tool-figures.tsx";
import { ToolFilters } from "./tool-filters.tsx";

const route = getRouteApi("/shell/tools");

export function ToolsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [range, refresh] = useTimeRange(search);
  const query: ToolQuery = {
    from: range.from,
    to: range.to,
    tool_name: search.tool,
    agent_id: search.agent,
    status: search.status,
  };
  return (
    <Page title={s.title} about={s.about} actions={<Actions query={query} onRefresh={refresh} />}>
      <ToolFilters query={query} />
      <Tabs
        label={s.tabs.label}
        value={search.tab ?? "log"}
        onChoose={(tab) => void navigate({ search: (old) => ({ ...old, tab }), replace: true })}
        tabs={[
          { value: "log", label: s.tabs.log, content: <CallTable query={query} /> },
          { value: "figures", label: s.tabs.aggregates, content: <ToolFigures query={query} range={range} /> },
          { value: "proof", label: s.tabs.integrity, content: <ChainProof /> },
        ]}
      />
      <CallSheet />
    </Page>
  );
}

/** Downloaded by the browser, because it may be large. */
function Actions({ query, onRefresh }: { readonly query: ToolQuery; readonly onRefresh: () => void }) {
  return (
    <>
      {(["csv", "ndjson"] as const).map((format) => (
        <a
          key={format}
          href={exportAddress(query, format)}
          download={`tool-invocations.${format}`}
          className={buttonClass()}
        >
          <Download aria-hidden />
          {s.export[format]}
        </a>
      ))}
      <Button onClick={onRefresh}>
        <RefreshCw aria-hidden />
        {s.refresh}
      </Button>
    </>
  );
}
