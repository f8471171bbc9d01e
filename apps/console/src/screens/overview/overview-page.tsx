import { Page } from "../../ui/panel.tsx";

export function OverviewPage() {
  return <Page title="OverviewPage">…</Page>;
}
