import { getRouteApi } from "@tanstack/react-router";
import { searchStrings as s } from "../../strings/search.ts";
import { Page } from "../../ui/panel.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Evaluations } from "./evaluations.tsx";
import { Lab } from "./lab.tsx";

const route = getRouteApi("/shell/search");

export function SearchPage() {
  const { tab = "try" } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Page title={s.title} about={s.about}>
      <Tabs
        label={s.tabs.label}
        value={tab}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, tab: next === "try" ? undefined : next }) })}
        tabs={[
          { value: "try", label: s.tabs.try, content: <Lab /> },
          { value: "evaluations", label: s.tabs.evaluations, content: <Evaluations /> },
        ]}
      />
    </Page>
  );
}
