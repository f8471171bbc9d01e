import { Page } from "../../ui/panel.tsx";

export function SearchPage() {
  return <Page title="SearchPage">…</Page>;
}
