import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { meOptions } from "../../api/identity.ts";
import { accessStrings as s } from "../../strings/access.ts";
import { Page } from "../../ui/panel.tsx";
import { Tabs, type Tab } from "../../ui/tabs.tsx";
import { AccessTester } from "./access-tester.tsx";
import { GroupsTab } from "./groups-tab.tsx";
import { KeysTab } from "./keys-tab.tsx";
import type { AccessTab } from "./routes.ts";

const route = getRouteApi("/shell/access");

export function AccessPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isAdmin = useQuery(meOptions).data?.role === "admin";
  // Keys and groups are for admins; everyone may test their own access.
  const tab = isAdmin ? (search.tab ?? "keys") : "test";
  const admins: readonly Tab<AccessTab>[] = [
    { value: "keys", label: s.tabs.keys, content: tab === "keys" && <KeysTab /> },
    { value: "groups", label: s.tabs.groups, content: tab === "groups" && <GroupsTab /> },
  ];
  return (
    <Page title={s.title} about={s.about}>
      <Tabs<AccessTab>
        label={s.tabs.label}
        value={tab}
        onChoose={(next) => void navigate({ search: (old) => ({ ...old, tab: next }), replace: true })}
        tabs={[
          ...(isAdmin ? admins : []),
          { value: "test", label: s.tabs.test, content: tab === "test" && <AccessTester isAdmin={isAdmin} /> },
        ]}
      />
    </Page>
  );
}
