import { Page } from "../../ui/panel.tsx";

export function WorkflowPage() {
  return <Page title="WorkflowPage">…</Page>;
}
