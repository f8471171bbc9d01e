import { Page } from "../../ui/panel.tsx";

export function ContainersPage() {
  return <Page title="ContainersPage">…</Page>;
}
