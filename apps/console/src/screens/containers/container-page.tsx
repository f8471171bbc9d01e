import { Page } from "../../ui/panel.tsx";

export function ContainerPage() {
  return <Page title="ContainerPage">…</Page>;
}
