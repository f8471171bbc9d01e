import { queryOptions } from "@tanstack/react-query";
import { get } from "./request.ts";

interface Info {
  readonly models: readonly { readonly id: string; readonly provider: string }[];
}

export const modelsOptions = queryOptions({
  queryKey: ["info", "models"],
  queryFn: async ({ signal }) => (await get<Info>("/v1/info", { signal })).models,
  staleTime: 60_000,
});
