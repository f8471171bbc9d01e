import { Page } from "../../ui/panel.tsx";

export function WorkflowsPage() {
  return <Page title="WorkflowsPage">…</Page>;
}
