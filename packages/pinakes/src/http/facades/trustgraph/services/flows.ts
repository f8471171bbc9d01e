/** flow: this server has one pipeline, which every flow uses; the flow `default` always exists. */
import { invalid, show } from "../../../../domain/errors.ts";
import type { Knowledge } from "../../../../knowledge/index.ts";
import { UnknownService, type Call } from "../call.ts";
import { optionalText, text } from "../fields.ts";
import { byOperation, type Service, type ServiceDependencies } from "./service.ts";

const always = "default";
const blueprint = "pinakes";
const services = ["triples", "graph-embeddings", "document-embeddings", "embeddings", "text-load", "document-load"];

export function flowService({ knowledge }: ServiceDependencies): Service {
  const { cores } = knowledge.library;
  const fieldsOf = ({ dialect }: Call, name: string) =>
    dialect === "old" ? { "class-name": name } : { "blueprint-name": name };
  return byOperation("flow", {
    reads: {
      "list-flows": async ({ caller }) => ({
        "flow-ids": [always, ...(await cores.flows(caller)).map(({ flow_id }) => flow_id).toSorted()],
      }),
      "get-flow": async (call) => {
        const id = text(call.request, "flow-id");
        const found = (await cores.flows(call.caller)).find(({ flow_id }) => flow_id === id);
        if (found === undefined && id !== always) throw new UnknownService(`There is no flow ${show(id)}.`);
        const interfaces = Object.fromEntries(services.map((name) => [name, `/api/v1/flow/${id}/service/${name}`]));
        const description = found?.description ?? "The pipeline of this server";
        const flow = { ...fieldsOf(call, found?.blueprint ?? blueprint), description, interfaces };
        return { flow: JSON.stringify(flow), description };
      },
      "list-classes": async () => ({ "class-names": [blueprint] }),
      "list-blueprints": async () => ({ "blueprint-names": [blueprint] }),
    },
    writes: {
      "start-flow": async (call) => {
        const flow_id = text(call.request, "flow-id");
        if (flow_id === always) throw invalid("flow-id: the flow default always exists.");
        const named = optionalText(call.request, call.dialect === "old" ? "class-name" : "blueprint-name", blueprint);
        const description = optionalText(call.request, "description", "");
        await cores.startFlow(call.caller, { flow_id, blueprint: named, description });
        return {};
      },
      "stop-flow": async ({ caller, request }) => {
        const id = text(request, "flow-id");
        if (id === always) throw invalid("flow-id: the flow default cannot be stopped.");
        await cores.stopFlow(caller, id);
        return {};
      },
    },
  });
}

/** Every started flow offers the services of the one pipeline. */
export async function requireFlow({ library }: Pick<Knowledge, "library">, { caller, flow }: Call): Promise<void> {
  if (flow === undefined || flow === always) return;
  const known = (await library.cores.flows(caller)).some(({ flow_id }) => flow_id === flow);
  if (!known) throw new UnknownService(`There is no flow ${show(flow)}.`);
}
