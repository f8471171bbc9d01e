import { getRouteApi } from "@tanstack/react-router";
import { governanceStrings as s } from "../../strings/governance.ts";
import { Page } from "../../ui/panel.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { ErasuresTab } from "./erasures-tab.tsx";
import { ExportsTab } from "./exports-tab.tsx";
import { HoldsTab } from "./holds-tab.tsx";
import { RetentionTab } from "./retention-tab.tsx";
import type { GovernanceTab } from "./routes.ts";

const route = getRouteApi("/shell/governance");

export function GovernancePage() {
  const { tab = "erasures" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title={s.title} about={s.about}>
      <Tabs<GovernanceTab>
        label={s.tabs.label}
        value={tab}
        onChoose={(next) => void navigate({ search: { tab: next }, replace: true })}
        tabs={[
          { value: "erasures", label: s.tabs.erasures, content: tab === "erasures" && <ErasuresTab /> },
          { value: "holds", label: s.tabs.holds, content: tab === "holds" && <HoldsTab /> },
          { value: "retention", label: s.tabs.retention, content: tab === "retention" && <RetentionTab /> },
          { value: "exports", label: s.tabs.exports, content: tab === "exports" && <ExportsTab /> },
        ]}
      />
    </Page>
  );
}
