/** The same on the engine that servers run on. */
import { knowledgeContractTests } from "./knowledge-contract.ts";

knowledgeContractTests("postgres", "embedded");
knowledgeContractTests("postgres", "http");
