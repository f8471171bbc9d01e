import { Page } from "../../ui/panel.tsx";

export function JobsPage() {
  return <Page title="JobsPage">…</Page>;
}
